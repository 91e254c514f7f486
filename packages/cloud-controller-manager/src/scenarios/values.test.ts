/** Annotations whose values Octavia and Neutron get as they are: one Service with all of them, and what it made. */
import { describe, expect, test } from "vitest";
import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
import { internal, os, setStage } from "./stage.ts";

const stage = setStage(3);

describe("the annotations of a Service", () => {
  test("that are values of its listener and its monitor are sent by the create of the load balancer", async () => {
    const { w, run, work } = stage();
    run({ provider: "amphora" });
    work();
    await w.createService(
      "web",
      {},
      {
        ...internal,
        "service.beta.kubernetes.io/load-balancer-source-ranges": "192.0.2.0/24",
        [os("timeout-member-connect")]: "1001",
        [os("timeout-member-data")]: "2002",
        [os("timeout-tcp-inspect")]: "303",
        [os("x-forwarded-port")]: "true",
        [os("enable-health-monitor")]: "true",
        [os("health-monitor-timeout")]: "4",
        [os("health-monitor-max-retries")]: "5",
        [os("health-monitor-max-retries-down")]: "6",
      },
    );
    await w.served("web");
    expect(work().filter((call) => call.startsWith("POST"))).toEqual(["POST /loadbalancers"]);
    const [listener] = await w.cloud.loadBalancing.listeners.all();
    expect(listener).toMatchObject({
      timeout_member_connect: 1001,
      timeout_member_data: 2002,
      timeout_tcp_inspect: 303,
      insert_headers: { "X-Forwarded-Port": "true" },
      allowed_cidrs: ["192.0.2.0/24"],
    });
    const [monitor] = await w.cloud.loadBalancing.healthMonitors.all();
    expect(monitor).toMatchObject({ timeout: 4, max_retries: 5, max_retries_down: 6 });
  });

  test("that name a class, a port for the VIP or an external network decide where the load balancer is", async () => {
    const { w, cloud, run } = stage();
    const { subnet } = w.infrastructure;
    const { network } = w.cloud;
    const admin = connectCloud(loadCloudsYaml({ text: cloud.cloudsYaml, cloud: "simulator-admin" }));
    const [external] = await network.networks.all({ name: "public" });
    const [known] = await admin.network.subnets.all({ network_id: external?.id ?? "" });
    await admin.network.setTags("subnets", known?.id ?? "", ["edge"]);
    // A member sees the subnets of a network that is shared.
    await admin.network.networks.update(external?.id ?? "", { shared: true });
    run({ provider: "amphora", classes: new Map([["gold", { subnetId: subnet.id }]]) });
    await w.createService("classed", {}, { ...internal, [os("class")]: "gold" });
    await w.served("classed");
    expect((await w.loadBalancers())[0]?.vip_subnet_id).toBe(subnet.id);
    const port = await network.ports.create({ network_id: subnet.network_id, name: "own-vip" });
    await w.createService("ported", {}, { ...internal, [os("port-id")]: port.id });
    await w.served("ported");
    expect((await w.loadBalancers()).map(({ vip_port_id }) => vip_port_id)).toContain(port.id);
    const floating = { [os("floating-network-id")]: external?.id ?? "", [os("floating-subnet-tags")]: "edge" };
    await w.createService("open", {}, floating);
    await w.served("open");
    const addresses = await network.floatingIps.all();
    expect(addresses.map(({ floating_network_id }) => floating_network_id)).toEqual([external?.id]);
    for (const name of ["classed", "ported", "open"]) await w.remove(name);
    await network.ports.delete(port.id);
    await admin.network.networks.update(external?.id ?? "", { shared: false });
    await admin.close();
  });
});
