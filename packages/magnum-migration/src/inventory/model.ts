/** A server of the cluster, and the ports and volumes that Heat made for it. */
export interface Machine {
  readonly serverId: string;
  readonly name: string;
  readonly address: string;
  readonly flavorId: string;
  readonly portIds: readonly string[];
}

/** A node group of workers as Magnum records it, and the servers that it has. */
export interface NodeGroup {
  readonly uuid: string;
  readonly name: string;
  readonly role: string;
  readonly isDefault: boolean;
  readonly flavorId: string | null;
  readonly imageId: string;
  readonly nodeCount: number;
  readonly minNodeCount: number;
  readonly maxNodeCount: number | null;
  /** GiB of an additional volume of each node. Records from before it was read have none. */
  readonly dockerVolumeSize?: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly machines: readonly Machine[];
}

/** A load balancer of the driver's, with its one listener and pool. */
export interface Balancer {
  readonly id: string;
  readonly vip: string;
  readonly port: number;
  readonly poolId: string;
  readonly subnetId: string;
  readonly members: readonly {
    readonly id: string;
    readonly name: string;
    readonly address: string;
    readonly port: number;
  }[];
}

/** A stack of Heat. */
export interface StackName {
  readonly id: string;
  readonly name: string;
}

/** A resource of the stacks that is in the cloud. */
export interface Resource {
  readonly name: string;
  readonly type: string;
  readonly id: string;
  /** The resource of the stack around its own. */
  readonly parent: string;
}

/** What was found against a migration. One that blocks has to be cleared first. */
export interface Finding {
  readonly code: string;
  readonly message: string;
  readonly blocks: boolean;
}

/** A cluster as Magnum's Heat driver left it: everything that later phases work with. */
export interface Inventory {
  readonly uuid: string;
  readonly name: string;
  readonly projectId: string;
  readonly userId: string;
  readonly templateId: string;
  readonly template: Readonly<Record<string, unknown>>;
  readonly status: string;
  readonly version: string;
  readonly apiAddress: string;
  readonly keypair: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly stacks: readonly StackName[];
  readonly masterUuid: string;
  readonly masterFlavorId: string | null;
  readonly masters: readonly Machine[];
  readonly groups: readonly NodeGroup[];
  readonly api: Balancer | undefined;
  readonly etcd: Balancer | undefined;
  readonly networkId: string;
  readonly subnetId: string;
  readonly resources: readonly Resource[];
  readonly findings: readonly Finding[];
  /** Attributes of the cluster that only its users see, as Magnum returned them. */
  readonly attributes?: Readonly<Record<string, unknown>>;
}
