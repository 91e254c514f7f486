/** Specs by what they are about: regular expressions of full names, as --ginkgo.focus takes them. */
export const GROUPS: Readonly<Record<string, readonly string[]>> = {
  volumes: [
    String.raw`Dynamic PV \((default fs|ext4|block volmode)\)\] volumes should`,
    String.raw`Dynamic PV \(xfs\)\] \[Slow\] volumes should`,
  ],
  expansion: [String.raw`Dynamic PV \((default fs|block volmode)\).*\] volume-expand`],
  snapshots: [
    String.raw`Dynamic Snapshot \((delete|retain) policy\)\] snapshottable \[Feature`,
    String.raw`Dynamic PV .*provisioning should provision (storage with snapshot data source \[|correct filesystem size)`,
  ],
  provisioning: [
    String.raw`Dynamic PV .*provisioning should (mount multiple PV|provision storage with (mount options|pvc data source$))`,
  ],
  multivolume: [
    String.raw`Dynamic PV \(filesystem volmode\)\] multiVolume .*should access to two volumes`,
    String.raw`Dynamic PV \((filesystem|block) volmode\)\] multiVolume .*should concurrently access the single volume from pods on the same node`,
  ],
  "volume mode": [String.raw`Dynamic PV .*volumeMode should`],
  "sub path": [String.raw`Dynamic PV \(default fs\)\] subPath should (support|be able|fail|verify)`],
  "file ownership": [String.raw`Dynamic PV .*fsgroupchangepolicy .*, pod created`],
  ephemeral: [
    String.raw`Generic Ephemeral-volume \((default fs|block volmode)\) \(late-binding\)\] ephemeral should (create|support multiple)`,
  ],
  scheduling: [
    String.raw`Dynamic PV .*(read-write-once-pod|topology should)`,
    String.raw`Dynamic PV .*volumeLimits should verify`,
  ],
};

/**
 * With --all: every spec of the driver but those for Windows and those that stop kubelets, which need a login to the
 * machines.
 */
export const WHOLE: Readonly<Record<string, readonly string[]>> = {
  all: [String.raw`External Storage.*(Dynamic PV|Dynamic Snapshot|Generic Ephemeral|Ephemeral Snapshot)`],
};

/** Never run: other operating systems, kubelets that are stopped, and what measures the speed of a machine. */
export const SKIPPED = String.raw`ntfs|Feature:Windows|\[Disruptive\]|performance|-stress|volume-stress|volumegroupsnapshot`;
