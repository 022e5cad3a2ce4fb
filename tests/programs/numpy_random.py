"""Uses numpy's random numbers with seeds, old interface and new: the same everywhere."""
# proctor: {"input": "", "output": "[51 92 14 71 60] True\n", "numpy": true}
import numpy as np

np.random.seed(42)
first = np.random.randint(0, 100, 5)
print(first, 0 <= np.random.default_rng(7).random() < 1)
