/** What the reason of a condition says of the future: it passes by itself, or a user or operator has to act. */
export type Outlook = "passes" | "remains";

const of = (outlook: Outlook, reasons: readonly string[]): readonly (readonly [string, Outlook])[] =>
  reasons.map((reason) => [reason, outlook]);

/**
 * Reasons of conditions of Cluster API's objects, of their infrastructure and of hosted control planes. They are a
 * contract: each is in the documentation of its kind, and clients read them. Others are shown, and may pass.
 */
export const outlookOf: ReadonlyMap<string, Outlook> = new Map([
  // The request, the project or its cloud has to be changed.
  ...of("remains", ["InvalidMachineSpec", "InvalidIdentity", "AuthenticationFailed", "Forbidden", "QuotaExceeded"]),
  ...of("remains", [
    "InstanceCreateFailed",
    "InstanceStateError",
    "PortCreateFailed",
    "VolumeError",
    "DuplicateServer",
  ]),
  ...of("remains", ["OverlappingCIDR", "InvalidSubnet", "InvalidExternalIP", "SubnetsAmbiguous"]),
  ...of("remains", ["LoadBalancerProviderNotFound", "RotationBroken", "NotServed", "WrongCloud", "SpecRefused"]),
  // Something is made, changed or deleted.
  ...of("passes", ["Creating", "CreatingNetwork", "CreatingSubnet", "CreatingRouter", "CreatingSecurityGroups"]),
  ...of("passes", [
    "CreatingLoadBalancer",
    "CreatingMonitor",
    "CreatingFloatingIP",
    "CreatingBastion",
    "CreatingIPAddressClaim",
  ]),
  ...of("passes", ["Starting", "Deleting", "DeletingBastion", "DeletingNode", "InstanceDeleting"]),
  ...of("passes", ["ScalingUp", "ScalingDown", "ScalingMachineSet", "RollingOut", "RollingUpdate"]),
  ...of("passes", ["Rotating", "Prepared", "MachinesRemain", "ExpiresSoon"]),
  ...of("passes", ["MigrationStarting", "MigrationCopying", "MigrationFreezing", "MigrationSwitching"]),
  ...of("passes", ["MigrationReturning", "MigrationFailed"]),
  // Something else comes first.
  ...of("passes", ["Waiting", "WaitingForBeforeDeleteHook", "WaitingForBootstrapData", "WaitingForBootstrapDeletion"]),
  ...of("passes", ["WaitingForCertificates", "WaitingForCluster", "WaitingForClusterInfrastructure"]),
  ...of("passes", ["WaitingForClusterInfrastructureReady", "WaitingForConnection", "WaitingForControlPlaneDeletion"]),
  ...of("passes", ["WaitingForControlPlaneInitialized", "WaitingForControlPlaneAvailable", "WaitingForEndpoint"]),
  ...of("passes", ["WaitingForFinalizers", "WaitingForIPAMProvider", "WaitingForInfrastructureDeletion"]),
  ...of("passes", ["WaitingForLoadBalancer", "WaitingForMachine", "WaitingForMachineDeletion", "WaitingForMachines"]),
  ...of("passes", ["WaitingForMinReadySeconds", "WaitingForNetwork", "WaitingForPreDrainHook"]),
  ...of("passes", ["WaitingForPreTerminateHook", "WaitingForRemediation", "WaitingForSecrets"]),
  ...of("passes", [
    "WaitingForAPIServers",
    "WaitingForAgent",
    "WaitingForEvents",
    "WaitingForLoadBalancers",
    "WaitingForServer",
    "WaitingForVolumeDetach",
    "WaitingForWorkersDeletion",
  ]),
  // Nothing more is said than that it is not so yet.
  ...of("passes", [
    "NotReady",
    "NotAvailable",
    "NotUpToDate",
    "NotInitialized",
    "NotHealthy",
    "NotFound",
    "NotApplied",
  ]),
  ...of("passes", ["NotDiscovered", "NotManaged", "NotDeleting", "NotPaused", "NotRemediating", "NotRollingOut"]),
  ...of("passes", ["NotScalingUp", "NotScalingDown", "BootstrapConfigDoesNotExist", "InstanceNotReady"]),
  ...of("passes", ["NodeNotReady", "NodeNotHealthy", "NodeDoesNotExist", "NodeDeleted", "NodeHealthUnknown"]),
  ...of("passes", ["NodeReadyUnknown", "NodeInspectionFailed", "NodeStartupTimeout"]),
  ...of("passes", ["InternalError", "InspectionFailed", "ConnectionDown"]),
]);
