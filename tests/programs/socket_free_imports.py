"""Imports modules whose use would be refused, `socket`, `subprocess`, `multiprocessing`, and does not use them."""
# proctor: {"input": "4\n", "output": "16\n"}
import http.client
import multiprocessing
import os
import pty
import select
import selectors
import socket
import ssl
import subprocess
import urllib.request

print(int(input()) ** 2)
