import {
  Cluster,
  IPAddressClaim,
  Machine,
  OpenStackCluster,
  OpenStackFloatingIPPool,
  OpenStackMachine,
  type OpenStackClusterSpec,
} from "@causeway/api";
import { hasCode } from "@causeway/foundation";
import { Secret, type KubeObject, type ResourceType } from "@causeway/kubernetes";
import type { CallRecord, Fault } from "@causeway/simulator";
import { createCluster, createMachine } from "./objects.ts";
import type { Deed, Misfortune, Schedule, Shape } from "./schedule.ts";
import { OWN, type ProviderFaultWorld, type ProviderProcess } from "./world.ts";

const MINUTE = 60_000;
/** How long (by the clock) the provider may take until all is well, once nothing disturbs it. */
const TIMEOUT = 90 * MINUTE;
const namespace = "default";

let runs = 0;

/** Plays one schedule to its end; what is wrong after it, in words, if anything is. */
export async function play(world: ProviderFaultWorld, schedule: Schedule): Promise<string | undefined> {
  const run = new Run(world, schedule, `run-${(runs += 1)}`);
  try {
    return await run.play();
  } finally {
    await run.leave();
  }
}

class Run {
  readonly #world: ProviderFaultWorld;
  readonly #schedule: Schedule;
  readonly #name: string;
  readonly #before: readonly string[];
  readonly #machines = new Map<string, Shape>();
  readonly #made = new Set<string>();
  readonly #processes: ProviderProcess[] = [];
  readonly #ending: Promise<void>[] = [];
  readonly #elected: boolean;
  #spec: Partial<OpenStackClusterSpec>;
  #count = 0;

  constructor(world: ProviderFaultWorld, schedule: Schedule, name: string) {
    this.#world = world;
    this.#schedule = schedule;
    this.#name = name;
    this.#before = world.simulator.inventory("demo");
    this.#elected = schedule.deeds.some(({ deed }) => deed.do === "second");
    const { balanced } = schedule;
    this.#spec = {
      managedSubnets: [{ cidr: "10.6.0.0/24", dnsNameservers: ["9.9.9.9"] }],
      managedSecurityGroups: {},
      tags: ["faults"],
      apiServer: { enableFloatingIP: balanced, managedLoadBalancer: { enabled: balanced } },
    };
  }

  async play(): Promise<string | undefined> {
    const { client, simulator } = this.#world;
    this.#launch();
    this.#disturb();
    await createCluster(client, this.#name, { cloudsYaml: simulator.cloudsYaml, spec: this.#spec });
    for (const { deed, pause, pending } of this.#schedule.deeds) {
      this.#pending(pending);
      await this.#do(deed);
      await this.#world.pass(pause);
    }
    simulator.setFaults(undefined);
    this.#pending("usual");
    if (this.#processes.length === 0) this.#launch();
    const wrong = await this.#untilRight(() => this.#whatIsWrong());
    if (wrong !== undefined) return wrong;
    for (const machine of this.#machines.keys()) await this.#delete(machine);
    await this.#remove(OpenStackCluster, this.#name);
    const left = await this.#untilRight(() => this.#whatIsLeft());
    return left === undefined ? undefined : `after deletion: ${left}`;
  }

  async leave(): Promise<void> {
    const { simulator, client } = this.#world;
    simulator.setFaults(undefined);
    simulator.setOutcomes([]);
    for (const process of this.#processes.splice(0)) await process.stop();
    await Promise.all(this.#ending);
    const kinds = [OpenStackMachine, OpenStackCluster, OpenStackFloatingIPPool, IPAddressClaim, Machine, Cluster];
    for (const kind of kinds as readonly ResourceType<KubeObject>[])
      for (const { metadata } of (await client.list(kind, { namespace })).items) {
        const key = this.#key(metadata.name);
        const body = { metadata: { finalizers: null } };
        await client.patch(kind, key, { type: "merge", body }).catch(() => {});
        await client.delete(kind, key).catch(() => {});
      }
    for (const name of [`${this.#name}-cloud`, ...this.#made]) await client.delete(Secret, this.#key(name));
  }

  #key(name: string) {
    return { namespace, name };
  }

  #launch(): void {
    this.#processes.push(this.#world.launch(this.#elected));
  }

  /** The misfortunes of calls, by their number; the test's own calls have none. */
  #disturb(): void {
    const by = new Map(this.#schedule.misfortunes.map(({ call, what }) => [call, what]));
    let number = 0;
    this.#world.simulator.setFaults((call) => {
      if (call.userAgent.startsWith(OWN) || call.service === "identity") return undefined;
      const what = by.get((number += 1));
      return what === undefined ? undefined : this.#befall(what, call);
    });
  }

  #befall(what: Misfortune, call: CallRecord): Fault {
    const when = what.endsWith("before") ? "before" : "after";
    if (what.startsWith("crash")) this.#crash();
    if (what.startsWith("crash") || what.startsWith("cut")) return { when, cut: true };
    const status = what === "409" && call.method === "GET" ? 503 : Number(what);
    const headers = status === 429 ? { "retry-after": "1" } : {};
    return {
      when: "before",
      status,
      body: { NeutronError: { type: "Busy", message: "Try again.", detail: "" } },
      headers,
    };
  }

  /** The process that leads dies, and another starts at once. */
  #crash(): void {
    const dead = this.#processes.shift();
    if (dead) this.#ending.push(dead.kill());
    this.#launch();
  }

  #pending(how: Schedule["deeds"][number]["pending"]): void {
    const { simulator } = this.#world;
    const time = how === "long" ? 5 * MINUTE : 500;
    for (const verb of ["create", "update", "delete"]) simulator.setDelay(`loadbalancer.amphora.${verb}`, time);
    for (const operation of ["server.create", "server.delete", "volume.create"]) simulator.setDelay(operation, time);
    simulator.setOutcomes(how === "broken" ? [{ operation: "server.create", outcome: "error" }] : []);
  }

  async #do(deed: Deed): Promise<void> {
    const { client } = this.#world;
    switch (deed.do) {
      case "machine":
        return this.#create(deed.machine, deed.shape);
      case "delete-machine": {
        const [name] = [...this.#machines.keys()].filter((machine) => machine.includes(`-m${deed.machine}-`));
        return name === undefined ? undefined : this.#delete(name);
      }
      case "change": {
        const rules = [
          { name: "bgp", direction: "ingress" as const, protocol: "tcp", portRangeMin: 179, portRangeMax: 179 },
        ];
        this.#spec =
          deed.what === "rules"
            ? { ...this.#spec, managedSecurityGroups: { workerNodesSecurityGroupRules: rules } }
            : { ...this.#spec, managedSubnets: [{ cidr: "10.6.0.0/24", dnsNameservers: ["1.1.1.1", "9.9.9.9"] }] };
        const body = { spec: this.#spec };
        await client.patch(OpenStackCluster, this.#key(this.#name), { type: "merge", body });
        return;
      }
      case "take-away":
        return this.#takeAway(deed.what);
      case "restart": {
        const process = this.#processes.shift();
        if (process) await process.stop();
        return this.#launch();
      }
      case "crash":
        return this.#crash();
      case "second":
        return this.#launch();
    }
  }

  async #create(machine: number, shape: Shape): Promise<void> {
    const name = `${this.#name}-m${machine}-${(this.#count += 1)}`;
    if ([...this.#machines.keys()].some((one) => one.includes(`-m${machine}-`))) return;
    this.#machines.set(name, shape);
    this.#made.add(name);
    await createMachine(this.#world.client, name, { cluster: this.#name, shape });
  }

  async #delete(machine: string): Promise<void> {
    this.#machines.delete(machine);
    await this.#remove(OpenStackMachine, machine);
  }

  /** Once more if the server closed the idle connection that the request was sent on: that is not what is tested. */
  async #remove(kind: ResourceType<KubeObject>, name: string): Promise<void> {
    const { client } = this.#world;
    try {
      await client.delete(kind, this.#key(name));
    } catch (error) {
      if (!hasCode(error, "KUBERNETES_UNREACHABLE")) throw error;
      if (await client.find(kind, this.#key(name))) await client.delete(kind, this.#key(name));
    }
  }

  /** A user deletes something in the cloud. */
  async #takeAway(what: Extract<Deed, { do: "take-away" }>["what"]): Promise<void> {
    const { network, compute } = this.#world.cloud;
    const work = async (): Promise<unknown> => {
      switch (what) {
        case "rule": {
          const [rule] = await network.securityGroupRules.all({ direction: "ingress" });
          return rule && network.securityGroupRules.delete(rule.id);
        }
        case "server": {
          const [server] = await compute.servers.all({});
          return server && compute.servers.delete(server.id);
        }
        case "floating-ip": {
          const ip = (await network.floatingIps.all()).find(({ description }) => description.includes("Pool"));
          return ip && network.floatingIps.delete(ip.id);
        }
      }
    };
    await work().catch(() => {});
  }

  /** Lets time pass until a check finds nothing wrong; what the last one found if none does. */
  async #untilRight(probe: () => Promise<string | undefined>): Promise<string | undefined> {
    const end = this.#world.clock.now() + TIMEOUT;
    for (let pause = 500; ; pause = Math.min(MINUTE, pause * 1.5)) {
      await this.#world.pass(pause);
      const wrong = await probe();
      if (wrong === undefined || this.#world.clock.now() > end) return wrong;
      await this.#remediate();
    }
  }

  /** As Cluster API's core does: a machine whose server or address is lost is replaced. */
  async #remediate(): Promise<void> {
    const { client } = this.#world;
    const machines = [...this.#machines];
    for (const [name, shape] of machines) {
      const { status } = await client.get(OpenStackMachine, this.#key(name));
      const lost = (type: string, ...reasons: readonly string[]) =>
        status?.conditions?.some((c) => c.type === type && c.status === "False" && reasons.includes(c.reason));
      if (
        !lost("InstanceReady", "InstanceDeleted", "InstanceStateError") &&
        !(status?.instanceState === "ACTIVE" && lost("FloatingAddressFromPoolReady", "FloatingIPError"))
      )
        continue;
      await this.#delete(name);
      await this.#create(Number(/-m(\d)-/.exec(name)?.[1]), shape);
    }
  }

  /** The resources with a name, each once; exactly those of the cluster and its machines. */
  async #whatIsWrong(): Promise<string | undefined> {
    const { client } = this.#world;
    const { status } = await client.get(OpenStackCluster, this.#key(this.#name));
    const bad = status?.conditions?.find((c) => c.status !== "True");
    if (bad || !status?.conditions) return `cluster: ${bad?.type} ${bad?.reason} ${bad?.message}`;
    for (const name of this.#machines.keys()) {
      const machine = await client.get(OpenStackMachine, this.#key(name));
      const broken = machine.status?.conditions?.find((c) => c.status !== "True");
      if (broken || !machine.status?.conditions) return `${name}: ${broken?.type} ${broken?.reason} ${broken?.message}`;
    }
    const found = this.#fresh();
    const wanted = this.#wanted();
    return JSON.stringify(found) === JSON.stringify(wanted)
      ? undefined
      : `the cloud has ${JSON.stringify(found.filter((x) => !wanted.includes(x)))}, and lacks ${JSON.stringify(wanted.filter((x) => !found.includes(x)))} (${found.length} of ${wanted.length})`;
  }

  #wanted(): string[] {
    const crn = `default-${this.#name}`;
    const cluster = `k8s-clusterapi-cluster-${crn}`;
    const balancer = `${cluster}-kubeapi`;
    const groups = ["controlplane", "worker"].map((role) => `security_group k8s-cluster-${crn}-secgroup-${role}`);
    const machines = [...this.#machines].flatMap(([name, { rootVolume, trunk, pool }]) => [
      `server ${name}`,
      `port ${name}-0`,
      ...(rootVolume ? [`volume ${name}-root`] : []),
      ...(trunk ? [`trunk ${name}-0`] : []),
      ...(pool ? ["floatingip"] : []),
    ]);
    const balanced = this.#schedule.balanced
      ? [
          `loadbalancer ${balancer}`,
          ...["listener", "pool", "healthmonitor"].map((kind) => `${kind} ${balancer}-6443`),
          "floatingip",
        ]
      : [];
    return [`network ${cluster}`, `subnet ${cluster}`, `router ${cluster}`, ...groups, ...machines, ...balanced].sort();
  }

  /** "kind name" of what has come since the run began, without what Neutron and Octavia make by themselves. */
  #fresh(): string[] {
    const kinds =
      "network subnet router security_group server volume trunk loadbalancer listener pool healthmonitor port";
    return this.#world.simulator
      .inventory("demo")
      .filter((line) => !this.#before.includes(line))
      .map((line) => {
        const [kind = "", , ...name] = line.split(" ");
        return [kind, kind === "floatingip" ? "" : name.join(" ")].join(" ").trim();
      })
      .filter(
        (line) => line === "floatingip" || (kinds.split(" ").includes(line.split(" ")[0] ?? "") && line.includes(" ")),
      )
      .filter((line) => !line.startsWith("port octavia-lb-") && !line.startsWith("security_group lb-"))
      .sort();
  }

  async #whatIsLeft(): Promise<string | undefined> {
    const { client, simulator } = this.#world;
    const objects = [
      ...(await client.list(OpenStackMachine)).items,
      ...(await client.list(OpenStackCluster)).items,
      ...(await client.list(IPAddressClaim)).items,
    ];
    if (objects.length > 0) {
      const [{ kind, metadata, status }] = objects as [OpenStackCluster];
      return `${kind} ${metadata.name} ${status?.conditions?.find((c) => c.status !== "True")?.message}`;
    }
    const left = simulator.inventory("demo").filter((line) => !this.#before.includes(line));
    return left.length === 0 ? undefined : `left: ${left.join(", ")}`;
  }
}
