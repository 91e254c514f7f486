

# Added to Nova's own file: this driver would have another identity at each start, and its node could start once.
# Drivers of real machines have the identity that is in the node's file.
class SmallFakeDriver(FakeDriverWithoutFakeNodes):
    vcpus, memory_mb, local_gb = SmallFakeDriver.vcpus, SmallFakeDriver.memory_mb, SmallFakeDriver.local_gb
