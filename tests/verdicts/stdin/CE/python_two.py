"""Python 2."""
print "hello"
