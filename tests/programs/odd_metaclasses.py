"""Has classes that cannot be hashed or asked for attributes, and leaves objects of theirs behind."""
# proctor: {"input": "", "output": "fine\n"}


class Comparing(type):
    def __eq__(cls, other):
        return cls is other


class Refusing(type):
    def __getattr__(cls, name):
        raise KeyError(name)


class One(metaclass=Comparing):
    pass


class Two(metaclass=Refusing):
    pass


kept = [One(), Two(), [Two()]]
one, two = One(), Two()
print("fine")
