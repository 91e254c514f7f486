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
export type ClusterStep = { readonly for: ConditionType } & (
  | { readonly do: "add-finalizer"; readonly identity: string }
  /** `account` says what the deletion removed and kept. */
  | { readonly do: "remove-finalizer"; readonly account: string }
  /** The hashes of the rules of the spec's lists, before they are created. */
  | { readonly do: "record-rules"; readonly hashes: string }
  | { readonly do: "record-endpoint"; readonly host: string; readonly port: number }
  | {
      readonly do: "create-bastion";
      readonly name: string;
      readonly cluster: string;
      readonly spec: OpenStackServerSpec;
      readonly hash: string;
    }
  | { readonly do: "record-bastion"; readonly name: string; readonly hash: string }
  | { readonly do: "delete-bastion"; readonly name: string }
  | { readonly do: "create-network"; readonly body: OpenStack.NetworkCreate }
  | { readonly do: "create-subnet"; readonly body: OpenStack.SubnetCreate }
  | { readonly do: "update-subnet"; readonly id: string; readonly dnsNameservers: string[] }
  | { readonly do: "create-router"; readonly body: OpenStack.RouterCreate }
  | { readonly do: "update-router"; readonly id: string; readonly gateway: OpenStack.ExternalGatewayInfo }
  | { readonly do: "add-router-interface"; readonly routerId: string; readonly subnetId: string }
  | { readonly do: "set-tags"; readonly kind: OpenStack.Taggable; readonly id: string; readonly tags: string[] }
  | { readonly do: "create-security-group"; readonly body: OpenStack.SecurityGroupCreate }
  | { readonly do: "create-rules"; readonly rules: readonly OpenStack.SecurityGroupRuleCreate[] }
  | { readonly do: "delete-rule"; readonly groupId: string; readonly id: string; readonly about: string }
  | { readonly do: "create-load-balancer"; readonly body: OpenStack.LoadBalancerCreate }
  /** One change of what is below the API's load balancer. */
  | { readonly do: "change-load-balancer"; readonly loadBalancerId: string; readonly change: TreeStep }
  | { readonly do: "create-floating-ip"; readonly body: OpenStack.FloatingIpCreate }
  | { readonly do: "associate-floating-ip"; readonly id: string; readonly portId: string; readonly address: string }
  | { readonly do: "delete-load-balancer"; readonly id: string; readonly name: string }
  | { readonly do: "delete-floating-ip"; readonly id: string; readonly address: string }
  | {
      readonly do: "remove-router-interface";
      readonly routerId: string;
      readonly subnetId: string;
      readonly portId: string;
    }
  | { readonly do: "remove-routes"; readonly id: string; readonly routes: readonly OpenStack.Route[] }
  | { readonly do: "delete-router"; readonly id: string; readonly name: string }
  | { readonly do: "delete-port"; readonly id: string; readonly name: string }
  | { readonly do: "delete-network"; readonly id: string; readonly name: string }
  | { readonly do: "delete-security-group"; readonly id: string; readonly name: string }
);
