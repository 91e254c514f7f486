import { describe, expect, test } from "vitest";
import { connectCloud, loadCloudsYaml, type ServiceDescription } from "@causeway/openstack";
import { startSimulator } from "@causeway/simulator";
import {
  isServedByCauseway,
  cloudFacts,
  services,
  type CloudAnswer,
  type AskedService,
  type CloudFacts,
  type ClusterFacts,
} from "./facts.ts";
import type { Finding } from "./finding.ts";
import { findingsOf } from "./findings.ts";
import { renderReport } from "./render.ts";

function described(id: string, skew = 0): CloudAnswer<ServiceDescription> {
  return { value: { url: "", versions: [{ id, status: "CURRENT" }], skew } };
}

function facts(
  changes: Partial<CloudFacts> = {},
  more: Partial<Record<AskedService, CloudFacts["services"]["identity"]>> = {},
): CloudFacts {
  const all = Object.fromEntries(
    services.map((service) => [service, described("v2.26")]),
  ) as unknown as CloudFacts["services"];
  const extensions = ["extraroute-atomic", "revision-if-match", "allowed-address-pairs"];
  return {
    region: "R",
    services: { ...all, ...more },
    extensions: { value: new Set(extensions) },
    providers: { value: ["amphora", "ovn"] },
    loadBalancers: { value: 0 },
    externalNetworks: { value: ["public"] },
    quotas: { value: { server: { limit: -1, used: 50 } } },
    ...changes,
  };
}

function find(cloud: CloudFacts, feature: string, cluster?: CloudAnswer<ClusterFacts>): Finding | undefined {
  return findingsOf({ cloud, cluster }).find((finding) => finding.feature === feature);
}

describe("the doctor", () => {
  test("finds nothing broken where all is well", () => {
    expect(
      findingsOf({ cloud: facts(), cluster: undefined }).filter((f) => f.state === "broken" || f.state === "missing"),
    ).toEqual([]);
  });

  test.each<[string, CloudFacts, string, string, RegExp]>([
    [
      "no Octavia",
      facts({}, { "load-balancer": { value: undefined } }),
      "load-balancer",
      "missing",
      /initialised all the same/,
    ],
    [
      "no Nova that answers",
      facts({}, { compute: { error: "connect refused" } }),
      "compute",
      "broken",
      /connect refused/,
    ],
    [
      "a clock that is behind",
      facts({}, { image: described("v2.15", -90_000) }),
      "clocks",
      "broken",
      /image is 90 s behind/,
    ],
    [
      "OVN before Wallaby",
      facts({}, { "load-balancer": described("v2.23") }),
      "health monitors (ovn)",
      "missing",
      /before Wallaby/,
    ],
    [
      "batches on such an OVN",
      facts({}, { "load-balancer": described("v2.23") }),
      "batch member updates (ovn)",
      "limited",
      /batch/,
    ],
    [
      "an Octavia of Stein",
      facts({}, { "load-balancer": described("v2.11") }),
      "source ranges (amphora)",
      "missing",
      /2\.12 \(Train\)/,
    ],
    [
      "no atomic routes",
      facts({ extensions: { value: new Set(["extraroute"]) } }),
      "routes to pods",
      "limited",
      /whole list/,
    ],
    ["no routes at all", facts({ extensions: { value: new Set() } }), "routes to pods", "missing", /no extraroute/],
    [
      "no role for load balancers",
      facts({ loadBalancers: { error: "403" } }),
      "load balancers",
      "broken",
      /cannot be listed/,
    ],
    ["no way out", facts({ externalNetworks: { value: [] } }), "external networks", "limited", /no external network/],
    [
      "a quota that is used up",
      facts({ quotas: { value: { floatingip: { limit: 3, used: 3 } } } }),
      "quota of floating IPs",
      "broken",
      /3 of 3/,
    ],
    [
      "a quota that is short",
      facts({ quotas: { value: { server: { limit: 10, used: 9 } } } }),
      "quota of servers",
      "limited",
      /9 of 10/,
    ],
    ["quotas that cannot be read", facts({ quotas: { error: "403" } }), "quotas", "limited", /cannot be read/],
  ])("reports its finding on %s", (_what, cloud, feature, state, because) => {
    expect(find(cloud, feature)).toMatchObject({ state, because: expect.stringMatching(because) });
  });

  test.each<[string, CloudAnswer<ClusterFacts>, string, string]>([
    ["one that does not answer", { error: "refused" }, "Kubernetes", "broken"],
    [
      "one of another project",
      { value: { version: "v1.34.4", nodes: 2, known: 0, uninitialized: 0, leader: "a", withoutElection: false } },
      "nodes",
      "broken",
    ],
    [
      "one whose nodes wait",
      { value: { version: "v1.34.4", nodes: 2, known: 0, uninitialized: 2, leader: "", withoutElection: false } },
      "nodes",
      "limited",
    ],
    [
      "one without a leader",
      { value: { version: "v1.34.4", nodes: 2, known: 2, uninitialized: 0, leader: "", withoutElection: false } },
      "cloud controller",
      "limited",
    ],
    [
      "one without a leader, which the fleet of causeway up serves",
      { value: { version: "v1.34.4", nodes: 2, known: 2, uninitialized: 0, leader: "", withoutElection: true } },
      "cloud controller",
      "works",
    ],
  ])("reports its finding on a cluster: %s", (_what, cluster, feature, state) => {
    expect(find(facts(), feature, cluster)?.state).toBe(state);
  });

  test("reads the simulated cloud, in reads alone, and its words are all on the page", async () => {
    const simulator = await startSimulator({ profile: "instant" });
    const cloud = connectCloud(loadCloudsYaml({ text: simulator.cloudsYaml, cloud: "simulator" }));
    try {
      simulator.setQuota("demo", "floatingip", 0);
      const read = { cloud: await cloudFacts(cloud, new AbortController().signal), cluster: undefined };
      expect(simulator.calls.filter((call) => call.method !== "GET" && !call.path.includes("/auth/tokens"))).toEqual(
        [],
      );
      const findings = findingsOf(read);
      expect(findings.filter((f) => f.state === "broken").map((f) => f.feature)).toEqual(["quota of floating IPs"]);
      const page = renderReport({ cloud: "simulator", region: "RegionOne", findings }, "table");
      for (const finding of findings) expect(page).toContain(finding.because);
      const report: unknown = JSON.parse(renderReport({ cloud: "simulator", region: "RegionOne", findings }, "json"));
      expect(report).toMatchObject({ cloud: "simulator" });
    } finally {
      await cloud.close();
      await simulator.close();
    }
  });

  const report = {
    cloud: "prod",
    region: "R",
    findings: [
      { feature: "identity", state: "works", because: "v3.14" },
      { feature: "block-storage", state: "missing", because: "the catalog has none in this region" },
      {
        feature: "clocks",
        state: "broken",
        because: "compute is 90 s ahead of this host",
        todo: "Let both follow NTP.",
      },
    ],
  } as const;

  test("the table begins with what is broken, then what is missing, and ends with what works", () => {
    expect(renderReport(report, "table")).toBe(`cloud prod, region R

broken    clocks         compute is 90 s ahead of this host
                         → Let both follow NTP.
missing   block-storage  the catalog has none in this region
works     identity       v3.14

1 work, 0 with limits, 1 missing, 1 broken
`);
  });

  test("a quiet table leaves out what works, and its summary counts it", () => {
    const page = renderReport(report, "table", { quiet: true, width: undefined, stream: undefined });
    expect(page).not.toContain("identity");
    expect(page).toContain("1 work,");
  });

  test("a table on a narrow terminal is wrapped below its own column", () => {
    const page = renderReport(report, "table", { quiet: false, width: 56, stream: undefined });
    expect(page).toContain(
      `compute is 90 s ahead of this\n${" ".repeat(25)}host\n${" ".repeat(25)}→ Let both follow NTP.`,
    );
    expect(page).toContain(`the catalog has none in this\n${" ".repeat(25)}region\n`);
    for (const line of page.split("\n")) expect(line.length).toBeLessThanOrEqual(56);
  });
});

test.each([
  ["whose status Causeway's controller manages", [{ manager: "causeway-cloud-controller-manager" }], true],
  ["of another controller", [{ manager: "cloud-controller-manager" }], false],
  ["that nothing manages", undefined, false],
])("a Service %s is served by Causeway: %j gives %s", (_, managedFields, expected) => {
  const metadata = { name: "web", ...(managedFields === undefined ? {} : { managedFields }) };
  expect(isServedByCauseway({ apiVersion: "v1", kind: "Service", metadata })).toBe(expected);
});
