"""Uses numpy's linear algebra under a memory limit of one GiB, which its threads' stacks easily exceed."""
# proctor: {"input": "", "output": "True 300\n", "numpy": true, "limits": {"memory_bytes": 1073741824}}
import numpy

matrix = numpy.eye(300) * 2
inverse = numpy.linalg.inv(matrix)
print(numpy.allclose(matrix @ inverse, numpy.eye(300)), numpy.linalg.matrix_rank(matrix))
