/**
 * When events whose message is computed as a whole are written, by package and reason. The page of events takes these
 * in place of a message.
 */
export const MEANINGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  addons: {
    AddonFailed: "an add-on cannot be applied; the message names it and the cause",
    AddonUnhealthy: "an add-on that was applied does not work; the message names it and the cause",
  },
  "cloud-controller-manager": {
    DeletingNode: "the server of the Node no longer exists",
    LoadBalancerAdopted: "a load balancer that another controller made is kept from now on; the message names it",
    LoadBalancerOwnerUnknown: "a load balancer of the Service's name has no proof of its owner, and is not changed",
  },
  "cluster-api-openstack": {
    AddressPairsNotChanged: "allowed address pairs of the template were not given to existing machines",
    DeletionBlocked: "the deletion waits for something that others own; the message names it",
    DeletionCompleted: "the cluster's resources are deleted; the message says what was removed and what was kept",
    InvalidMachineSpec: "the machine cannot be created as it is declared; the message names the fields",
    NameInUse: "a resource of this name belongs to another owner, and is not used",
    WrongCloud: "the credentials lead to another cloud or project than the one that the object was created in",
  },
  causeway: {
    SweptWithoutAPI:
      "a deleted cluster's API could not be reached for 15 minutes; the message lists what of its load balancers was found by name in the cloud, and what was removed or kept",
  },
  "cluster-api": {
    CoreDNSNotUpgraded: "CoreDNS remains at its version; the message says why",
    DiscoveryFailed: "the extension did not say which hooks it serves",
    RemediationRestricted: "too many machines are unhealthy at once, so none is replaced",
    Unknown: "the phase of the Machine changed; the reason is that phase",
  },
  "csi-sidecars": {
    GroupSnapshotContentCreationFailed: "the driver refused the group snapshot; the message is the driver's",
    SnapshotContentCreationFailed: "the driver refused the snapshot; the message is the driver's",
    VolumeFailedDelete: "the driver did not delete the volume; the message is the driver's",
  },
  "hosted-control-plane": {
    AuditSinkFailing:
      "the server that `spec.audit.webhook` names did not accept audit events, which are lost; the message names it",
    IssuersNotAccepted:
      "kube-apiserver believes the issuers of before, since one in `spec.authentication.jwt` did not respond; the message names it",
    NodeClockOff: "the clock of a node that runs pods of the control plane is wrong; the message says by how much",
    Parked: "the embedded API server was stopped because of what it did; the message says when it starts again",
    TunnelAgentMissing:
      "no agent of the tunnel has been connected for a minute; the message says since when and who must act",
    TunnelServerUnreachable:
      "the tunnel server has not responded to the controller for a minute; the message says since when and has a code",
    StorageBudgetExceeded: "the data in etcd is beyond the control plane's budget; writes are refused",
  },
  "magnum-api": { Failed: "the cluster came to a failed status; the message is its status_reason" },
  "octavia-ingress": { Deleting: "the load balancer is deleted; the message says why" },
  "openstack-operator": {
    ComponentFailed: "a component failed; the message has its root cause",
    HoldsData: "a restore is refused, since the database has data",
    MaintenanceFailed: "the maintenance of a node stopped; the message says what failed",
    QuorumAtRisk:
      "a cordoned control node is not released for its drain: a cluster would lose its majority; the message has its members",
    ServerStays: "a server cannot leave the node; the message says what to do with it",
    WriteFailed: "an object of the deployment could not be written; the message is the API server's",
  },
  "workload-controllers": {
    FailedComputeMetricsReplicas: "no metric of the autoscaler could be read",
    FailedGetScale: "the scale of the autoscaler's target could not be read",
    FailedToCreateEndpoint: "the Endpoints of a Service could not be created; the message says why",
    FailedToUpdateEndpoint: "the Endpoints of a Service could not be changed; the message says why",
    FailedToUpdateEndpointSlices: "the EndpointSlices of a Service could not be changed; the message says why",
    FailedScheduling: "no node has room for the pod; the message counts the nodes by reason",
    Resumed: "the Job is no longer suspended",
    Suspended: "the Job was suspended",
  },
};
