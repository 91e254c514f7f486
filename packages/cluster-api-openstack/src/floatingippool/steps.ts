import type * as OpenStack from "@causeway/openstack";

/** One call to OpenStack or Kubernetes. `reason` is what the pool's condition says when it fails. */
export type PoolStep = { readonly reason: string } & (
  | { readonly type: "add-finalizer" }
  | { readonly type: "remove-finalizer" }
  | {
      readonly type: "create-floating-ip";
      readonly body: OpenStack.FloatingIpCreate;
      readonly known: readonly string[];
    }
  | { readonly type: "tag-floating-ip"; readonly id: string; readonly tags: string[] }
  | { readonly type: "delete-floating-ip"; readonly id: string; readonly address: string }
  /** The IPAddress of a claim, with the claim's name. */
  | { readonly type: "create-address"; readonly claim: string; readonly address: string }
  | { readonly type: "record-address"; readonly claim: string }
  /** An IPAddress whose claim is gone. */
  | { readonly type: "delete-address"; readonly name: string }
  /** Takes the finalizer off an IPAddress that is being deleted. */
  | { readonly type: "release-address"; readonly name: string }
);
