import type * as OpenStack from "@causeway/openstack";

/** One call to OpenStack or Kubernetes. `reason` is what the pool's condition says when it fails. */
export type PoolStep = { readonly reason: string } & (
  | { readonly do: "add-finalizer" }
  | { readonly do: "remove-finalizer" }
  | { readonly do: "create-floating-ip"; readonly body: OpenStack.FloatingIpCreate; readonly known: readonly string[] }
  | { readonly do: "tag-floating-ip"; readonly id: string; readonly tags: string[] }
  | { readonly do: "delete-floating-ip"; readonly id: string; readonly address: string }
  /** The IPAddress of a claim, with the claim's name. */
  | { readonly do: "create-address"; readonly claim: string; readonly address: string }
  | { readonly do: "record-address"; readonly claim: string }
  /** An IPAddress whose claim is gone. */
  | { readonly do: "delete-address"; readonly name: string }
  /** Takes the finalizer off an IPAddress that is being deleted. */
  | { readonly do: "release-address"; readonly name: string }
);
