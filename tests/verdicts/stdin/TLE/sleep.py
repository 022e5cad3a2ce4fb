"""Never stops sleeping: the wall clock decides."""
import time

time.sleep(600)
