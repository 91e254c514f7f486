import type { OpenStackDeploymentSpec } from "@causeway/api";
import type { ConfigMap, Job, KubeObject } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { findCycle } from "../graph/graph.ts";
import { desire, named, podOf, spec } from "../testing/rendered.ts";
import type { NetworkPolicy } from "./types.ts";

type Probes = Partial<
  Record<"startupProbe" | "readinessProbe" | "livenessProbe", { exec?: { command: string[] }; timeoutSeconds: number }>
>;
type NodeGroup = OpenStackDeploymentSpec["nodeGroups"][number];

describe("every rendered object", () => {
  test("is the same for the same input", () => {
    expect(desire().all).toEqual(desire().all);
  });

  test("has no password, unless it is a Secret", () => {
    const { all, credentials } = desire();
    const open = JSON.stringify(all.filter(({ kind }) => kind !== "Secret"));
    const leaked = Object.entries(credentials.values).filter(([, value]) => open.includes(value));
    expect(leaked.map(([key]) => key)).toEqual([]);
    expect(open).not.toMatch(/mysql\+pymysql:\/\/[^{]|rabbit:\/\/[^{]/);
  });

  test("of the control plane passes Pod Security restricted; the exceptions have a reason", () => {
    const { workloads } = desire();
    const exceptions = new Set<string>();
    for (const { object, component = "" } of workloads) {
      const { spec: pod } = podOf(object);
      const containers = [...(pod.initContainers ?? []), ...pod.containers] as {
        securityContext?: Record<string, unknown>;
      }[];
      const isRestricted =
        (pod["securityContext"] as Record<string, unknown>)["runAsNonRoot"] === true &&
        !pod.hostNetwork &&
        !pod["hostPID"] &&
        !(pod.volumes ?? []).some((volume) => "hostPath" in volume) &&
        containers.every(
          ({ securityContext = {} }) =>
            securityContext["allowPrivilegeEscalation"] === false &&
            JSON.stringify(securityContext["capabilities"]) === '{"drop":["ALL"]}',
        );
      if (!isRestricted) exceptions.add(component);
    }
    expect([...exceptions].toSorted()).toEqual([
      "host-preflight",
      "libvirt",
      "neutron-ovn-metadata-agent",
      "nova-compute",
      "octavia-health-manager",
      "openvswitch",
      "ovn-controller",
    ]);
    const { catalogue } = desire();
    for (const name of exceptions) {
      expect(catalogue.components.find((each) => each.name === name)?.host?.reason).toMatch(/.{20}/);
    }
  });
});

describe("NetworkPolicies", () => {
  const policy = (all: readonly KubeObject[], name: string) => named(all, "NetworkPolicy", name) as NetworkPolicy;
  const peerNames = (rules: { from?: unknown[]; to?: unknown[] }[]) =>
    rules
      .flatMap(
        ({ from, to }) =>
          [...(from ?? []), ...(to ?? [])] as { podSelector?: { matchLabels?: Record<string, string> } }[],
      )
      .map(({ podSelector }) => podSelector?.matchLabels?.["openstack.causeway.dev/component"])
      .filter((name) => name !== undefined);

  test("let the check of Nova's upgrade query the APIs that Nova uses, without waiting for them", () => {
    const { all, catalogue } = desire({}, "2024.1");
    const apis = ["keystone-api", "placement-api", "cinder-api"];
    const peers = peerNames(policy(all, "cloud-nova-upgrade-check").spec.egress ?? []);
    expect(peers).toEqual(expect.arrayContaining(["mariadb", ...apis]));
    expect(catalogue.graph.needs.get("nova-upgrade-check")).toEqual([]);
  });

  test("allow each connection at both of its ends, and nothing else by default", () => {
    const { all, catalogue } = desire();
    expect(policy(all, "cloud-default-deny").spec).toMatchObject({ policyTypes: ["Ingress", "Egress"] });
    expect(policy(all, "cloud-default-deny").spec.ingress).toBeUndefined();
    for (const from of catalogue.components.filter(({ host }) => !host?.network)) {
      for (const { to, port } of from.connections ?? []) {
        const target = catalogue.components.find(({ name }) => name === to);
        if (!target || target.host?.network) continue;
        expect(peerNames(policy(all, `cloud-${from.name}`).spec.egress ?? []), `${from.name} to ${to}`).toContain(to);
        const isPublic = target.ports?.find(({ name }) => name === port)?.publicName !== undefined;
        if (!isPublic)
          expect(peerNames(policy(all, `cloud-${to}`).spec.ingress ?? []), `${to} from ${from.name}`).toContain(
            from.name,
          );
      }
    }
  });

  test("lose a rule with its connection", () => {
    const without = desire({ services: [{ name: "heat", enabled: false }] }).all;
    expect(peerNames(policy(desire().all, "cloud-mariadb").spec.ingress ?? [])).toContain("heat-engine");
    expect(peerNames(policy(without, "cloud-mariadb").spec.ingress ?? [])).not.toContain("heat-engine");
  });
});

describe("pods of OpenStack's services", () => {
  test("of Nova live as long as the service takes to stop, and longer when its option says so", () => {
    const grace = (more: Partial<OpenStackDeploymentSpec>, name: string) => {
      const kind = name === "cloud-nova-compute-compute" ? "DaemonSet" : "Deployment";
      const object = named(desire(more).all, kind, name);
      return object ? podOf(object).spec.terminationGracePeriodSeconds : undefined;
    };
    const option = { section: "DEFAULT", option: "graceful_shutdown_timeout", value: "400" };
    const more = { services: [{ name: "nova" as const, configuration: [option] }] };
    // Migrations are waited for first, for as long again.
    expect(grace({}, "cloud-nova-compute-compute")).toBe(370);
    expect(grace(more, "cloud-nova-compute-compute")).toBe(810);
    const compute = named(desire(more).all, "DaemonSet", "cloud-nova-compute-compute");
    const [container] = compute ? podOf(compute).spec.containers : [];
    expect(container).toMatchObject({
      lifecycle: { preStop: { exec: { command: ["/usr/bin/python3", "-IS", "/programs/migrations.py", "400"] } } },
    });
    expect(grace(more, "cloud-nova-conductor")).toBe(410);
    expect(grace({}, "cloud-nova-api")).toBeGreaterThanOrEqual(80 + 10);
  });

  test("run the administrator's image of their service, and clients of the database that of the database", () => {
    const services = [
      { name: "glance" as const, image: "mirror/glance:1" },
      { name: "mariadb" as const, image: "mirror/mariadb:2" },
    ];
    const images = (component: string) => {
      const found = desire({ services }).workloads.find(({ component: name }) => name === component);
      const { initContainers = [], containers = [] } = found ? podOf(found.object).spec : {};
      return [...initContainers, ...containers].map(({ image }) => image);
    };
    expect(images("glance-api")).toEqual(["mirror/glance:1"]);
    expect(images("glance-db-init")).toEqual(["mirror/mariadb:2"]);
    expect(images("glance-db-sync")).toEqual(["mirror/mariadb:2", "mirror/glance:1"]);
    expect(images("glance-register")).toEqual(["registry.example.org/openstack/keystone:2025.1"]);
  });

  test("of Jobs that make schemas check the databases at each attempt, which is a pod of its own, after the one before", () => {
    const { catalogue, workloads } = desire();
    const makesSchemas = new Set(catalogue.components.filter(({ schemas }) => schemas).map(({ name }) => name));
    expect(makesSchemas).toContain("nova-cell-sync");
    const jobs = workloads.filter(({ object }) => object.kind === "Job");
    expect(jobs.length).toBeGreaterThan(makesSchemas.size);
    for (const { object, component = "" } of jobs) {
      const { initContainers = [], ["restartPolicy"]: policy } = podOf(object).spec;
      const checks = initContainers.some(({ command = [] }) => command.includes("/programs/db-unfinished.sh"));
      const { podReplacementPolicy: replacement } = (object as Job).spec;
      expect({ component, checks, policy, replacement }).toEqual({
        component,
        checks: makesSchemas.has(component),
        policy: makesSchemas.has(component) ? "Never" : "OnFailure",
        replacement: makesSchemas.has(component) ? "Failed" : undefined,
      });
    }
  });

  test("of one node group alone change with that group's options", () => {
    const before = desire().all;
    const nodeGroups = spec.nodeGroups.map((group) =>
      group.name === "gpu"
        ? {
            ...group,
            configuration: [
              {
                service: "nova" as const,
                options: [{ section: "DEFAULT", option: "reserved_host_memory_mb", value: "4096" }],
              },
            ],
          }
        : group,
    );
    const after = desire({ nodeGroups }).all;
    const kinds = ["Deployment", "StatefulSet", "DaemonSet", "Job"];
    const changed = after.filter(
      (object) =>
        kinds.includes(object.kind) &&
        JSON.stringify(object) !== JSON.stringify(named(before, object.kind, object.metadata.name)),
    );
    expect(changed.map(({ metadata }) => metadata.name)).toEqual(["cloud-nova-compute-gpu"]);
  });

  test("on compute nodes have no password of a database, also where their group has options of its own", () => {
    const options = [{ section: "DEFAULT", option: "reserved_host_memory_mb", value: "4096" }];
    const [control, compute, gpu] = spec.nodeGroups as [NodeGroup, NodeGroup, NodeGroup];
    const nodeGroups = [control, compute, { ...gpu, configuration: [{ service: "nova" as const, options }] }];
    const { all, workloads } = desire({ nodeGroups });
    const mounted = workloads
      .filter(({ object }) => object.kind === "DaemonSet" && /-(compute|gpu)$/.test(object.metadata.name))
      .flatMap(({ object, component = "" }) => {
        const names = JSON.stringify(podOf(object).spec.volumes).matchAll(/"name":"(cloud-[a-z0-9-]+-[0-9a-f]{10})"/g);
        const texts = [...names].map(([, name = ""]) => {
          const { data = {} } = (named(all, "Secret", name) ?? {}) as { data?: Record<string, string> };
          return Object.values(data).map((each) => Buffer.from(each, "base64").toString());
        });
        return [[component, texts.flat().join("\n")] as const];
      });
    expect(new Set(mounted.map(([component]) => component))).toContain("nova-compute");
    for (const [component, text] of mounted) expect(text, component).not.toMatch(/mysql|\[(api_)?database\]/);
    const ofCompute = mounted.filter(([component]) => component === "nova-compute").map(([, text]) => text);
    expect(ofCompute).toHaveLength(2);
    for (const text of ofCompute) expect(text).toMatch(/transport_url = rabbit:/);
  });

  test("have every program that they run, and that their probes run", () => {
    const programsOf = (object: KubeObject | undefined) =>
      Object.keys((object as { data?: object } | undefined)?.data ?? {});
    for (const [release, from] of [["2022.2"], ["2025.1"], ["2025.1", "2024.1"]] as const) {
      const { all, workloads } = desire({ release }, from);
      for (const { object, component = "" } of workloads) {
        const { spec: pod } = podOf(object);
        const volume = pod.volumes?.find(({ name }) => name === "programs") as
          | { configMap?: { name: string } }
          | undefined;
        const mounted = programsOf(named(all, "ConfigMap", volume?.configMap?.name ?? ""));
        const used = [...JSON.stringify(pod).matchAll(/\/programs\/([a-z_-]+\.[a-z]+)/g)].map(([, name]) => name);
        expect(mounted, `${release} ${component}`).toEqual(expect.arrayContaining(used));
      }
    }
  });

  test("of Neutron's API run under uWSGI from 2025.1 on, and before it neutron-server starts all processes", () => {
    const processes = (release: "2024.2" | "2025.1") =>
      desire({ release })
        .workloads.filter(
          ({ object, component = "" }) => object.kind === "Deployment" && component.startsWith("neutron-"),
        )
        .map(({ object, component }) => {
          const command = podOf(object).spec.containers[0]?.command ?? [];
          return [component, command[command.includes("/programs/front.py") ? 10 : 4]];
        });
    expect(processes("2024.2")).toEqual([["neutron-server", "neutron-server"]]);
    expect(processes("2025.1")).toEqual([
      ["neutron-server", "uwsgi"],
      ["neutron-rpc-server", "neutron-rpc-server"],
      ["neutron-periodic-workers", "neutron-periodic-workers"],
      ["neutron-ovn-maintenance-worker", "neutron-ovn-maintenance-worker"],
    ]);
  });

  test.each([
    ["nova", /^\[conductor\]\nworkers = 2$/m],
    ["nova", /^\[scheduler\]\n(?:.*\n)*?workers = 2$/m],
    ["neutron", /^metadata_workers = 2$/m],
    ["octavia", /^health_update_threads = 2$/m],
    ["designate", /^\[service:central\]\nworkers = 2$/m],
  ])("of %s have no more workers on a node of many processors: %s", (service, line) => {
    const files = desire().all.filter(
      ({ kind, metadata }) => kind === "ConfigMap" && metadata.name.startsWith(`cloud-${service}-etc-`),
    ) as ConfigMap[];
    expect(files.length).toBeGreaterThan(0);
    for (const { data, metadata } of files) expect(data?.["service.conf"], metadata.name).toMatch(line);
  });

  test("end the commands of their probes before the kubelet's time is over", () => {
    for (const { object, component = "" } of desire().workloads)
      for (const { startupProbe, readinessProbe, livenessProbe } of podOf(object).spec.containers as Probes[])
        for (const probe of [startupProbe, readinessProbe, livenessProbe])
          if (probe?.exec) {
            const [program, , seconds] = probe.exec.command;
            expect(program, component).toBe("timeout");
            expect(Number(seconds), component).toBeLessThan(probe.timeoutSeconds);
          }
  });

  test("of Octavia's API start after the agent of its drivers, whose sockets both have", () => {
    const { workloads } = desire();
    const api = workloads.find(({ component }) => component === "octavia-api");
    const { initContainers = [], containers } = podOf(api!.object).spec;
    const agent = initContainers.find(({ name }) => name === "octavia-driver-agent");
    expect(agent).toMatchObject({ restartPolicy: "Always", startupProbe: { exec: {} } });
    expect(agent?.["volumeMounts"]).toEqual(containers[0]?.["volumeMounts"]);
    expect(agent?.["volumeMounts"]).toContainEqual({ name: "run-octavia", mountPath: "/run/octavia" });
  });

  test("of APIs under uWSGI say by their probes what is requested, and know where to find their database", () => {
    type Probed = Record<string, { httpGet?: { httpHeaders?: { name: string; value: string }[] } } | undefined>;
    const said = desire().workloads.flatMap(({ component, object }) => {
      if (object.kind === "Job") return [];
      const [main] = podOf(object).spec.containers;
      const asks = ["startupProbe", "readinessProbe", "livenessProbe"].map(
        (name) => (main as unknown as Probed)[name]?.httpGet?.httpHeaders?.[0]?.value,
      );
      const of = main?.env?.find(({ name }) => name === "FRONT_DATABASE") as { value?: string } | undefined;
      return of === undefined ? [] : [`${component} ${of.value} ${asks.join(" ")}`];
    });
    expect(said).toContain("nova-metadata nova startup ready live");
    expect(said).toContain("keystone-api keystone startup ready live");
    expect(said.filter((each) => !each.endsWith(" startup ready live") || each.startsWith("horizon"))).toEqual([]);
  });

  test("have a probe in every process that remains", () => {
    const { catalogue } = desire();
    expect(catalogue.components.filter(({ kind, probe }) => kind !== "Job" && !probe).map(({ name }) => name)).toEqual(
      [],
    );
  });
});

describe("a database of its own for Neutron", () => {
  test("changes Neutron's connection and accounts, and those of no other service", () => {
    const services = [
      ...(spec.services ?? []).filter(({ name }) => name !== "neutron"),
      { name: "neutron" as const, database: "Own" as const },
    ];
    const { all, catalogue } = desire({ services });
    expect(catalogue.databases.get("neutron")).toBe("mariadb-neutron");
    const secrets = all
      .filter(({ kind }) => kind === "Secret")
      .map((object) =>
        JSON.stringify(
          Object.values((object as { data?: Record<string, string> }).data ?? {}).map((each) =>
            Buffer.from(each, "base64").toString(),
          ),
        ),
      );
    const using = all
      .filter(({ kind }) => kind === "Secret")
      .filter((_, index) => secrets[index]?.includes("cloud-mariadb-neutron."));
    expect(using.map(({ metadata }) => metadata.name.replace(/-[0-9a-f]{10}$/, ""))).toEqual([
      "cloud-neutron-credentials",
    ]);
    const init = all.find(({ kind, metadata }) => kind === "Job" && metadata.name.startsWith("cloud-neutron-db-init"));
    expect(JSON.stringify(init)).toContain("cloud-mariadb-neutron.openstack.svc");
  });
});

describe("the graph", () => {
  test("has no cycle, with and without the Jobs of an upgrade", () => {
    expect(findCycle(desire().catalogue.graph.needs)).toBeUndefined();
    expect(findCycle(desire({}, "2024.1").catalogue.graph.needs)).toBeUndefined();
  });

  test("refuses a dependency that closes a cycle, and shows it", () => {
    const services = [{ name: "keystone" as const, startAfter: ["nova-api"] }];
    expect(() => desire({ services })).toThrow(/keystone-[a-z-]+ -> .*nova-api -> .*keystone/);
  });

  test("puts every check of an upgrade before any change, and migrations after all new processes", () => {
    const { catalogue } = desire({}, "2024.1");
    const order = catalogue.graph.order.map(({ name }) => name);
    const checks = order.filter((name) => name.endsWith("-upgrade-check"));
    const changes = catalogue.graph.order.filter(({ kind, name }) => kind !== "Job" || name.endsWith("-db-sync"));
    expect(checks.length).toBeGreaterThan(8);
    for (const { name, after = [] } of changes) expect(after, name).toEqual(expect.arrayContaining(checks));
    expect(order.indexOf("nova-online-migrations")).toBeGreaterThan(order.indexOf("nova-compute"));
    expect(order.indexOf("keystone-contract")).toBeGreaterThan(order.indexOf("keystone-api"));
    const { needs } = catalogue.graph;
    const comesAfter = (name: string, before: string): boolean =>
      (needs.get(name) ?? []).some((each) => each === before || comesAfter(each, before));
    const nova = ["placement-api", "nova-db-sync", "nova-cell-sync", "nova-conductor", "nova-scheduler", "nova-api"];
    const steps = [...nova, "nova-compute", "nova-online-migrations"];
    for (const [index, name] of steps.slice(1).entries())
      expect(comesAfter(name, steps[index] ?? ""), `${name} after ${steps[index]}`).toBe(true);
    expect(comesAfter("nova-scheduler", "nova-super-conductor")).toBe(true);
    // OVN: controllers, databases, northd; otherwise the other way round.
    const ovn = (names: readonly string[]) => names.filter((name) => /^ovn-(?:controller|nb|sb|northd)$/.test(name));
    expect(ovn(order)).toEqual(["ovn-controller", "ovn-nb", "ovn-sb", "ovn-northd"]);
    expect(ovn(desire().catalogue.graph.order.map(({ name }) => name)).at(-1)).toBe("ovn-controller");
  });
});

describe("a database that hangs", () => {
  const mine = { section: "database", option: "connection_parameters", value: "ssl_ca=/etc/ca.pem&read_timeout=7" };
  const filesOf = (all: readonly KubeObject[], service: string) =>
    (
      all.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name.startsWith(`cloud-${service}-etc-`)) as
        | ConfigMap
        | undefined
    )?.data ?? {};

  test("is waited for for a minute by services, Designate too, and for a day by their Jobs", () => {
    const { all, workloads } = desire();
    const files = all.filter(({ kind, metadata }) => kind === "ConfigMap" && metadata.name.includes("-etc-"));
    const limited = files.filter((file) => JSON.stringify(file).includes("connection_parameters = read_timeout=60"));
    expect(limited.length).toBeGreaterThan(9);
    expect(filesOf(all, "designate")["job.conf"]).toBe(
      "[storage:sqlalchemy]\nconnection_parameters = read_timeout=86400\n",
    );
    const patient = (kind: string) =>
      workloads
        .filter(({ object }) => object.kind === kind)
        .filter(({ object }) => JSON.stringify(podOf(object).spec.volumes).includes('"path":"20-job.conf"'));
    expect(patient("Job").length).toBeGreaterThan(8);
    expect(patient("Deployment")).toEqual([]);
  });

  test("has what else the administrator gives for connections, such as TLS, in the Jobs, too", () => {
    const services = spec.services?.map((each) => (each.name === "glance" ? { ...each, configuration: [mine] } : each));
    const files = filesOf(desire({ services: services ?? [] }).all, "glance");
    expect(files["service.conf"]).toContain("connection_parameters = ssl_ca=/etc/ca.pem&read_timeout=7\n");
    expect(files["job.conf"]).toBe("[database]\nconnection_parameters = ssl_ca=/etc/ca.pem&read_timeout=86400\n");
  });
});
