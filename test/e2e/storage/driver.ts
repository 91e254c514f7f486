/** The description of the Cinder driver for the e2e suite: the file that its flag --storage.testdriver names. */
const DRIVER = "cinder.csi.openstack.org";

/** The suite's own names. What is not listed is not supported; the results page has the reasons. */
const CAPABILITIES: readonly string[] = [
  "persistence",
  "block",
  "fsGroup",
  "exec",
  "snapshotDataSource",
  "pvcDataSource",
  "multipods",
  "multiplePVsSameID",
  "controllerExpansion",
  "nodeExpansion",
  "onlineExpansion",
  "offlineExpansion",
  "readWriteOncePod",
  "topology",
  "volumeLimits",
];

/** @see https://github.com/kubernetes/kubernetes/tree/master/test/e2e/storage/external */
export function testDriver(storageClass: string): object {
  return {
    StorageClass: { FromExistingClassName: storageClass },
    SnapshotClass: { FromName: true },
    DriverInfo: {
      Name: DRIVER,
      SupportedSizeRange: { Min: "1Gi" },
      SupportedFsType: { "": {}, ext4: {}, xfs: {} },
      SupportedMountOption: { dirsync: {} },
      RequiredAccessModes: ["ReadWriteOnce"],
      TopologyKeys: [`topology.${DRIVER}/zone`],
      NumAllowedTopologies: 1,
      Capabilities: Object.fromEntries(CAPABILITIES.map((name) => [name, true])),
    },
  };
}
