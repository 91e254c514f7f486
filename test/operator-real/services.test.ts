/**
 * A cloud with Cinder, Barbican, Heat and Octavia on one machine, whose servers are network namespaces: a volume, a
 * secret, a stack and a load balancer that carries packets; and a managed Kubernetes on it.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, type Started } from "../support/processes.ts";
import { statusOf } from "./cloud.ts";
import { administrator, clientOf, type Client } from "./client.ts";
import { record } from "./figures.ts";
import { makeProject, PROJECT, serviceCloud } from "./service-cloud.ts";
import { bringUpKubernetes, type Kubernetes } from "./kubernetes.ts";
import { TIMEOUT, startRig, volumes, type Rig } from "./rig.ts";
import { restarted, seconds, whenReady } from "./whole-cloud.ts";

describe("a cloud of real processes with Cinder, Barbican, Heat and Octavia", () => {
  let rig: Rig;
  let user: Client;
  let kubernetes: Kubernetes | undefined;
  const answering: Started[] = [];

  beforeAll(async () => {
    rig = await startRig();
    const began = Date.now();
    rig.apply(volumes());
    rig.apply(serviceCloud());
    await whenReady(rig);
    record("from nothing to a cloud with Cinder, Barbican, Heat and Octavia, one machine, size Tiny", {
      secondsToReady: seconds(Date.now() - began),
      components: statusOf(rig).components?.length ?? 0,
      restarts: restarted(rig).length,
    });
    await makeProject(rig, clientOf(rig, administrator(rig)));
    user = clientOf(rig, PROJECT);
  });

  afterAll(async () => {
    await kubernetes?.stop();
    for (const each of answering) await each.stop("SIGKILL");
    await rig?.close();
  });

  const becomes = async (wanted: string, kind: readonly string[], column: string, id: string) => {
    let now = "";
    await eventually(TIMEOUT, async () => {
      now = (await user.run(...kind, "show", id, "-f", "value", "-c", column)).trim();
      if (/error|failed/i.test(now)) throw new Error(`${kind.join(" ")} ${id} is ${now}`);
      return now === wanted;
    });
  };

  test("starts without a restart of any container", () => {
    expect(restarted(rig)).toEqual([]);
  });

  test("keeps a volume, its snapshot and a volume made from that", async () => {
    await user.run("volume", "create", "--size", "2", "first");
    await becomes("available", ["volume"], "status", "first");
    await user.run("volume", "snapshot", "create", "--volume", "first", "of-first");
    await becomes("available", ["volume", "snapshot"], "status", "of-first");
    const { id } = await user.ask<{ id: string }>("volume", "create", "--snapshot", "of-first", "second");
    await becomes("available", ["volume"], "status", "second");
    const file = `/var/lib/cinder/volumes/volume-${id}`;
    const bytes = await rig.inContainer("cloud-cinder-volume-0", "cinder-volume", "stat", "-c", "%s", file);
    expect(Number(bytes)).toBe(2 * 1024 ** 3);
  });

  test("gives back a secret as it was stored", async () => {
    const made = await user.ask<Record<string, string>>("secret", "store", "--name", "word", "--payload", "swordfish");
    const payload = await user.ask<{ Payload: string }>("secret", "get", made["Secret href"] ?? "", "--payload");
    expect(payload.Payload).toBe("swordfish");
  });

  test("creates a stack with two servers on a network of its own, and a user of Heat's domain for its signal", async () => {
    await user.write("/tmp/stack.yaml", STACK);
    await user.run("stack", "create", "-t", "/tmp/stack.yaml", "pair");
    await becomes("CREATE_COMPLETE", ["stack"], "stack_status", "pair");
    const { id } = await clientOf(rig, administrator(rig)).ask<{ id: string }>("domain", "show", "heat");
    const users = await clientOf(rig, administrator(rig)).ask<unknown[]>("user", "list", "--domain", id);
    // The administrator of the domain, and that of the signal.
    expect(users).toHaveLength(2);
  });

  test("carries packets from a floating IP through an OVN load balancer to both servers", async () => {
    const output = async (name: string) =>
      (await user.ask<{ output_value: string }>("stack", "output", "show", "pair", name)).output_value;
    const servers = [await output("first"), await output("second")];
    for (const server of servers) answering.push(await startAnswering(rig, server));
    const subnet = await output("subnet");
    const front = ["--name", "front", "--provider", "ovn", "--vip-subnet-id", subnet];
    const balancer = await user.ask<{ id: string; vip_port_id: string }>("loadbalancer", "create", ...front);
    const settled = () => becomes("ACTIVE", ["loadbalancer"], "provisioning_status", balancer.id);
    await settled();
    await user.run("loadbalancer", "listener", "create", "--name", "port", ...LISTENER, balancer.id);
    await settled();
    await user.run("loadbalancer", "pool", "create", "--name", "pair", "--listener", "port", ...POOL);
    await settled();
    for (const name of ["first-address", "second-address"]) {
      const member = ["--subnet-id", subnet, "--address", await output(name), "--protocol-port", "8080"];
      await user.run("loadbalancer", "member", "create", ...member, "pair");
      await settled();
    }
    const at = ["--port", balancer.vip_port_id, "public"];
    const floating = await user.ask<{ floating_ip_address: string }>("floating", "ip", "create", ...at);
    const seen = new Set<string>();
    await eventually(TIMEOUT, async () => {
      const url = `http://${floating.floating_ip_address}:80/`;
      seen.add((await rig.inNetwork("curl", "-sf", "-m", "5", url)).trim());
      return servers.every((server) => seen.has(server));
    });
    await user.run("loadbalancer", "delete", "--cascade", balancer.id);
    await eventually(TIMEOUT, async () => (await user.ask<unknown[]>("loadbalancer", "list")).length === 0);
    await user.run("floating", "ip", "delete", floating.floating_ip_address);
    await user.run("stack", "delete", "--yes", "--wait", "pair");
  });

  test("carries a managed Kubernetes: three nodes that are servers of it, behind an OVN load balancer", async () => {
    kubernetes = await bringUpKubernetes(rig);
    record("a managed Kubernetes with three nodes on the cloud that the operator runs", kubernetes.figures);
    const nodes = await kubernetes.nodes();
    expect(nodes).toHaveLength(3);
    expect(nodes.every(({ ready, providerID }) => ready && providerID.startsWith("openstack:///"))).toBe(true);
    const servers = await user.ask<{ ID: string; Status: string }[]>("server", "list");
    expect(
      servers
        .filter(({ Status }) => Status === "ACTIVE")
        .map(({ ID }) => `openstack:///${ID}`)
        .sort(),
    ).toEqual(nodes.map(({ providerID }) => providerID).sort());
    const balancers = await user.ask<{ provider: string; provisioning_status: string }[]>("loadbalancer", "list");
    expect(balancers.map(({ provider, provisioning_status: status }) => [provider, status])).toEqual([
      ["ovn", "ACTIVE"],
    ]);
  });

  test("loses everything of the cluster again when that is deleted", async () => {
    await kubernetes?.remove();
    const left = async () =>
      Promise.all(
        [["server"], ["loadbalancer"], ["router"], ["floating", "ip"]].map(
          async (kind) => (await user.ask<unknown[]>(...kind, "list")).length,
        ),
      );
    await eventually(TIMEOUT, async () => (await left()).every((count) => count === 0));
  });
});

const LISTENER = ["--protocol", "TCP", "--protocol-port", "80"];
const POOL = ["--protocol", "TCP", "--lb-algorithm", "SOURCE_IP_PORT"];

const STACK = `heat_template_version: 2021-04-16
resources:
  network: {type: "OS::Neutron::Net"}
  subnet:
    type: OS::Neutron::Subnet
    properties: {network: {get_resource: network}, cidr: 10.77.0.0/24}
  router:
    type: OS::Neutron::Router
    properties: {external_gateway_info: {network: public}}
  leg:
    type: OS::Neutron::RouterInterface
    properties: {router: {get_resource: router}, subnet: {get_resource: subnet}}
  open:
    type: OS::Neutron::SecurityGroup
    properties: {rules: [{protocol: tcp, port_range_min: 8080, port_range_max: 8080}]}
  signal: {type: "OS::Heat::WaitConditionHandle"}
${["first", "second"]
  .map(
    (name) => `  ${name}-port:
    type: OS::Neutron::Port
    properties:
      network: {get_resource: network}
      fixed_ips: [{subnet: {get_resource: subnet}}]
      security_groups: [{get_resource: open}]
  ${name}:
    type: OS::Nova::Server
    properties: {image: cirros, flavor: m1.small, networks: [{port: {get_resource: ${name}-port}}]}
`,
  )
  .join("")}outputs:
  subnet: {value: {get_resource: subnet}}
  first: {value: {get_resource: first}}
  second: {value: {get_resource: second}}
  first-address: {value: {get_attr: [first-port, fixed_ips, 0, ip_address]}}
  second-address: {value: {get_attr: [second-port, fixed_ips, 0, ip_address]}}
`;

/** A program in the server's namespace that responds to HTTP on port 8080 with the server's ID. */
async function startAnswering(rig: Rig, server: string): Promise<Started> {
  const [machine] = rig.machines;
  const program = `from http.server import *
class Answer(BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"${server}"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
print("serves", flush=True)
HTTPServer(("", 8080), Answer).serve_forever()`;
  const running = machine!.start("ip", "netns", "exec", `vm-${server}`, "python3", "-c", program);
  await running.until(/serves/);
  return running;
}
