import type { OpenStackServerSpec } from "@causeway/api";
import type { TreeStep } from "@causeway/octavia-tree";
import type * as OpenStack from "@causeway/openstack";

/** The conditions of an OpenStackCluster whose state the planner's parts determine; Ready summarises them. */
export type ConditionType =
  | "OpenStackAuthenticationSucceeded"
  | "NetworkReady"
  | "RouterReady"
  | "SecurityGroupsReady"
  | "APIEndpointReady"
  | "BastionReady";

/** One call to OpenStack or Kubernetes. `for` is the condition that a failure belongs to. */
export type ClusterStep = { readonly for: ConditionType } &
  /** `owner`: what its network's description is to name, if it creates one. */
  (
    | { readonly type: "add-finalizer"; readonly identity: string; readonly owner?: string }
    /** `account` says what the deletion removed and kept. */
    | { readonly type: "remove-finalizer"; readonly account: string }
    /** The hashes of the rules of the spec's lists, before they are created. */
    | { readonly type: "record-rules"; readonly hashes: string }
    | { readonly type: "record-endpoint"; readonly host: string; readonly port: number }
    | {
        readonly type: "create-bastion";
        readonly name: string;
        readonly cluster: string;
        readonly spec: OpenStackServerSpec;
        readonly hash: string;
      }
    | { readonly type: "record-bastion"; readonly name: string; readonly hash: string }
    | { readonly type: "delete-bastion"; readonly name: string }
    | { readonly type: "create-network"; readonly body: OpenStack.NetworkCreate }
    /** Reads the networks of the name, and records the one with this ID if there is no other. */
    | { readonly type: "check-names"; readonly id: string; readonly name: string; readonly crn: string }
    /** Another object has created a network of the name: this one's is deleted. */
    | { readonly type: "record-contention" }
    | { readonly type: "create-subnet"; readonly body: OpenStack.SubnetCreate }
    | { readonly type: "update-subnet"; readonly id: string; readonly dnsNameservers: string[] }
    | { readonly type: "create-router"; readonly body: OpenStack.RouterCreate }
    | { readonly type: "update-router"; readonly id: string; readonly gateway: OpenStack.ExternalGatewayInfo }
    | { readonly type: "add-router-interface"; readonly routerId: string; readonly subnetId: string }
    | { readonly type: "set-tags"; readonly kind: OpenStack.Taggable; readonly id: string; readonly tags: string[] }
    | { readonly type: "create-security-group"; readonly body: OpenStack.SecurityGroupCreate }
    | { readonly type: "create-rules"; readonly rules: readonly OpenStack.SecurityGroupRuleCreate[] }
    | { readonly type: "delete-rule"; readonly groupId: string; readonly id: string; readonly about: string }
    | { readonly type: "create-load-balancer"; readonly body: OpenStack.LoadBalancerCreate }
    /** One change of what is below the API's load balancer. */
    | { readonly type: "change-load-balancer"; readonly loadBalancerId: string; readonly change: TreeStep }
    | { readonly type: "create-floating-ip"; readonly body: OpenStack.FloatingIpCreate }
    | { readonly type: "associate-floating-ip"; readonly id: string; readonly portId: string; readonly address: string }
    | { readonly type: "delete-load-balancer"; readonly id: string; readonly name: string }
    | { readonly type: "delete-floating-ip"; readonly id: string; readonly address: string }
    | {
        readonly type: "remove-router-interface";
        readonly routerId: string;
        readonly subnetId: string;
        readonly portId: string;
      }
    | { readonly type: "remove-routes"; readonly id: string; readonly routes: readonly OpenStack.Route[] }
    | { readonly type: "delete-router"; readonly id: string; readonly name: string }
    | { readonly type: "delete-port"; readonly id: string; readonly name: string }
    | { readonly type: "delete-network"; readonly id: string; readonly name: string }
    | { readonly type: "delete-security-group"; readonly id: string; readonly name: string }
  );
