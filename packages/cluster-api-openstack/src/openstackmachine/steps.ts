import type * as OpenStack from "@causeway/openstack";

/** The pool that a floating IP is claimed from. */
export interface PoolReference {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

/** What to do when the cloud refuses a step for good. */
export interface StepRefusal {
  /** Milliseconds after which it is tried again. */
  readonly pause: number;
  /** For users, after what the cloud says. */
  readonly advice: string;
}

/**
 * One call to OpenStack or Kubernetes. `reason` is what InstanceReady says when it fails, or the condition of updates
 * where `isUpdate` says that it changes a server which runs.
 */
export type MachineStep = {
  readonly reason: string;
  readonly isUpdate?: true;
  readonly refusal?: StepRefusal;
} & (
  | { readonly type: "add-finalizer" }
  | { readonly type: "remove-finalizer" }
  | { readonly type: "record-provider-id"; readonly providerId: string }
  /** On the Machine: the annotation `endpointHook`; null removes it. */
  | {
      readonly type: "set-endpoint-hook";
      readonly machine: { readonly name: string; readonly uid: string | undefined };
      readonly value: string | null;
    }
  | {
      readonly type: "create-port";
      readonly body: OpenStack.PortCreate;
      readonly tags: readonly string[];
      /** IDs of ports that the list lacks, to be read once more: nothing is made while one of them exists. */
      readonly replaces?: readonly string[];
    }
  | {
      readonly type: "update-port";
      readonly id: string;
      /** Allowed address pairs; undefined: as they are. */
      readonly pairs?: OpenStack.AddressPair[];
      /** IDs of security groups; undefined: as they are. */
      readonly groups?: string[];
    }
  | { readonly type: "set-port-tags"; readonly id: string; readonly tags: string[] }
  | { readonly type: "create-trunk"; readonly body: OpenStack.TrunkCreate; readonly tags: readonly string[] }
  | { readonly type: "add-subports"; readonly id: string; readonly subports: OpenStack.SubPort[] }
  | { readonly type: "remove-subports"; readonly id: string; readonly ports: string[] }
  | { readonly type: "attach-port"; readonly serverId: string; readonly portId: string }
  | { readonly type: "set-server-tags"; readonly id: string; readonly tags: string[] }
  | {
      readonly type: "set-server-metadata";
      readonly id: string;
      readonly set: Readonly<Record<string, string>>;
      readonly remove: readonly string[];
    }
  | { readonly type: "delete-trunk"; readonly id: string; readonly portId: string; readonly subports: string[] }
  | { readonly type: "create-volume"; readonly body: OpenStack.VolumeCreate }
  /** `secret` names the bootstrap data, which is read when the call is made; empty: none. */
  | { readonly type: "create-server"; readonly body: OpenStack.ServerCreate; readonly secret: string }
  | { readonly type: "delete-server"; readonly id: string }
  | { readonly type: "delete-port"; readonly id: string; readonly name: string }
  | { readonly type: "create-claim"; readonly name: string; readonly pool: PoolReference }
  | { readonly type: "delete-claim"; readonly name: string }
  | {
      readonly type: "associate-floating-ip";
      readonly id: string;
      readonly portId: string;
      readonly address: string;
    }
  | { readonly type: "delete-volume"; readonly id: string; readonly name: string }
);
