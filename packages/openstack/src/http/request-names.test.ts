import { describe, expect, it } from "vitest";
import { requestName } from "./request-names.ts";

describe("a call's name in the metrics", () => {
  it.each([
    ["server_list", "compute", "GET", "/servers/detail"],
    ["server_get", "compute", "GET", "/servers/{id}"],
    ["flavor_get", "compute", "GET", "/flavors/{id}"],
    ["volume_attach", "compute", "POST", "/servers/{id}/os-volume_attachments"],
    ["volume_detach", "compute", "DELETE", "/servers/{id}/os-volume_attachments/{id}"],
    ["loadbalancer_create", "load-balancer", "POST", "/loadbalancers"],
    ["loadbalancer_list", "load-balancer", "GET", "/loadbalancers"],
    ["loadbalancer_get", "load-balancer", "GET", "/loadbalancers/{id}"],
    ["loadbalancer_listener_update", "load-balancer", "PUT", "/listeners/{id}"],
    ["loadbalancer_pool_delete", "load-balancer", "DELETE", "/pools/{id}"],
    ["loadbalancer_member_list", "load-balancer", "GET", "/pools/{id}/members"],
    ["loadbalancer_members_update", "load-balancer", "PUT", "/pools/{id}/members"],
    ["loadbalancer_healthmonitor_get", "load-balancer", "GET", "/healthmonitors/{id}"],
    ["loadbalancer_l7policy_create", "load-balancer", "POST", "/l7policies"],
    ["loadbalancer_l7rule_create", "load-balancer", "POST", "/l7policies/{id}/rules"],
    ["floating_ip_create", "network", "POST", "/floatingips"],
    ["floating_ip_update", "network", "PUT", "/floatingips/{id}"],
    ["network_list", "network", "GET", "/networks"],
    ["network_extension_list", "network", "GET", "/extensions"],
    ["port_update", "network", "PUT", "/ports/{id}"],
    ["port_tag_delete", "network", "DELETE", "/ports/{id}/tags/{id}"],
    ["router_get", "network", "GET", "/routers/{id}"],
    ["security_group_create", "network", "POST", "/security-groups"],
    ["security_group_rule_list", "network", "GET", "/security-group-rules"],
    ["subnet_get", "network", "GET", "/subnets/{id}"],
    ["secret_list", "key-manager", "GET", "/secrets"],
    ["version_list", "load-balancer", "GET", "/"],
    ["volume_create", "block-storage", "POST", "/volumes"],
    ["volume_list", "block-storage", "GET", "/volumes/detail"],
    ["volume_get", "block-storage", "GET", "/volumes/{id}"],
    ["volume_delete", "block-storage", "DELETE", "/volumes/{id}"],
    ["snapshot_create", "block-storage", "POST", "/snapshots"],
    ["snapshot_get", "block-storage", "GET", "/snapshots/{id}"],
    ["snapshot_list", "block-storage", "GET", "/snapshots/detail"],
    ["snapshot_delete", "block-storage", "DELETE", "/snapshots/{id}"],
    ["backup_create", "block-storage", "POST", "/backups"],
    ["backup_get", "block-storage", "GET", "/backups/{id}"],
    ["backup_list", "block-storage", "GET", "/backups/detail"],
    ["backup_delete", "block-storage", "DELETE", "/backups/{id}"],
  ])("is %s, as cloud-provider-openstack's", (name, service, method, route) =>
    expect(requestName({ service, method, route })).toBe(name),
  );

  it("is that of the action where several share a route", () => {
    const action = { service: "block-storage", method: "POST", route: "/volumes/{id}/action" };
    expect(requestName({ ...action, body: { "os-extend": { new_size: 2 } } })).toBe("volume_expand");
    expect(requestName({ ...action, body: { "os-retype": { new_type: "fast" } } })).toBe("volume_action_create");
    expect(requestName(action)).toBe("volume_action_create");
  });
});
