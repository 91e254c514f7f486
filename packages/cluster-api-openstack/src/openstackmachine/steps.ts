import type * as OpenStack from "@causeway/openstack";

/** The pool that a floating IP is claimed from. */
export interface PoolReference {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

/** One call to OpenStack or Kubernetes. `reason` is what InstanceReady says when it fails. */
export type MachineStep = { readonly reason: string } & (
  | { readonly do: "add-finalizer" }
  | { readonly do: "remove-finalizer" }
  | { readonly do: "record-provider-id"; readonly providerId: string }
  | {
      readonly do: "create-port";
      readonly body: OpenStack.PortCreate;
      readonly tags: readonly string[];
      /** IDs of ports that the list lacks, to be read once more: nothing is made while one of them exists. */
      readonly replaces?: readonly string[];
    }
  | {
      readonly do: "update-port";
      readonly id: string;
      /** Allowed address pairs; undefined: as they are. */
      readonly pairs?: OpenStack.AddressPair[];
      /** IDs of security groups; undefined: as they are. */
      readonly groups?: string[];
    }
  | { readonly do: "set-port-tags"; readonly id: string; readonly tags: string[] }
  | { readonly do: "create-trunk"; readonly body: OpenStack.TrunkCreate; readonly tags: readonly string[] }
  | { readonly do: "add-subports"; readonly id: string; readonly subports: OpenStack.SubPort[] }
  | { readonly do: "remove-subports"; readonly id: string; readonly ports: string[] }
  | { readonly do: "attach-port"; readonly serverId: string; readonly portId: string }
  | { readonly do: "set-server-tags"; readonly id: string; readonly tags: string[] }
  | {
      readonly do: "set-server-metadata";
      readonly id: string;
      readonly set: Readonly<Record<string, string>>;
      readonly remove: readonly string[];
    }
  | { readonly do: "delete-trunk"; readonly id: string; readonly portId: string; readonly subports: string[] }
  | { readonly do: "create-volume"; readonly body: OpenStack.VolumeCreate }
  /** `secret` names the bootstrap data, which is read when the call is made; empty: none. */
  | { readonly do: "create-server"; readonly body: OpenStack.ServerCreate; readonly secret: string }
  | { readonly do: "delete-server"; readonly id: string }
  | { readonly do: "delete-port"; readonly id: string; readonly name: string }
  | { readonly do: "create-claim"; readonly name: string; readonly pool: PoolReference }
  | { readonly do: "delete-claim"; readonly name: string }
  | {
      readonly do: "associate-floating-ip";
      readonly id: string;
      readonly portId: string;
      readonly address: string;
    }
  | { readonly do: "delete-volume"; readonly id: string; readonly name: string }
);
