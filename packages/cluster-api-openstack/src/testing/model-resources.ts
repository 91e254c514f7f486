import type * as OpenStack from "@causeway/openstack";
import type { ModelCloud } from "./model-cloud.ts";
import { projectId } from "./objects.ts";

/** What steps that make something leave in a cloud. */
export const own = { project_id: projectId, admin_state_up: true, tags: [] as string[] };
export const lb = {
  ...own,
  operating_status: "ONLINE",
  provisioning_status: "ACTIVE",
  created_at: "",
  updated_at: "",
} as const;

export function server(id: string, body: Pick<OpenStack.ServerCreate, "name" | "metadata">): OpenStack.Server {
  return {
    id,
    name: body.name,
    status: "ACTIVE",
    tenant_id: projectId,
    user_id: "user",
    created: "",
    updated: "",
    hostId: "",
    addresses: { net: [{ addr: "10.6.0.10", version: 4, "OS-EXT-IPS:type": "fixed" }] },
    metadata: body.metadata ?? {},
    key_name: null,
    flavor: {},
    image: "",
  };
}

export function port(cloud: ModelCloud, body: Partial<OpenStack.Port>): OpenStack.Port {
  const id = cloud.id("port");
  return {
    ...own,
    id,
    name: "",
    description: "",
    network_id: "",
    status: "DOWN",
    mac_address: `fa:${id}`,
    fixed_ips: [],
    device_id: "",
    device_owner: "",
    security_groups: [],
    allowed_address_pairs: [],
    ...body,
  };
}

export function rule(cloud: ModelCloud, body: OpenStack.SecurityGroupRuleCreate): OpenStack.SecurityGroupRule {
  return {
    id: cloud.id("rule"),
    ethertype: "IPv4",
    protocol: null,
    port_range_min: null,
    port_range_max: null,
    remote_group_id: null,
    remote_ip_prefix: null,
    description: "",
    project_id: projectId,
    ...body,
  };
}

export function member(cloud: ModelCloud, body: OpenStack.MemberCreate): OpenStack.Member {
  return {
    ...lb,
    id: cloud.id("member"),
    subnet_id: null,
    weight: 1,
    monitor_address: null,
    monitor_port: null,
    name: "",
    ...body,
  };
}
