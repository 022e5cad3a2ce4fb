"""Imports a module that does not exist."""
import a_module_that_does_not_exist
