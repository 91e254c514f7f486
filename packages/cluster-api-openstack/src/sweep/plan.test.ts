import { describe, expect, test } from "vitest";
import { port, server } from "../dry-run/resources.ts";
import type { Volume } from "@causeway/openstack";
import { description, networkName, securityGroupName, serverOwnerKey } from "../resources/naming.ts";
import { ModelCloud } from "../testing/model-cloud.ts";
import { external, projectId } from "../testing/objects.ts";
import type { SweepObserved } from "./model.ts";
import { planClusterSweep } from "./plan.ts";

const mark = description("default-web");
const network = { ...external, id: "net", name: networkName("default-web"), description: mark, project_id: projectId };
const node = (id: string, name: string, metadata: Record<string, string> = {}) => server(id, { name, metadata });

/** As upstream makes them, without a mark of ours. */
const volume = (id: string, name: string, text: string, servers: readonly string[] = []): Volume =>
  ({
    id,
    name,
    description: text,
    metadata: {},
    attachments: servers.map((server_id) => ({ server_id })),
  }) as unknown as Volume;

type Content = Partial<Omit<SweepObserved, "living">> & { living?: string[] };

function plan(content: Content, running = true): string[] {
  const { living = [], ...cloud } = content;
  const nothing = {
    projectId,
    networks: [],
    subnets: [],
    routers: [],
    ports: [],
    securityGroups: [],
    floatingIps: [],
    loadBalancers: [],
    servers: [],
    volumes: [],
  };
  const orphans = planClusterSweep({ ...nothing, ...cloud, living: new Set(living) }, { running });
  return orphans.map(({ kind, id, kept }) => `${kind} ${id}${kept === undefined ? "" : " kept"}`);
}

const model = new ModelCloud();
const on = (more: object) => ({ ...port(model, { network_id: "net", ...more }), id: "p" });

describe("the plan of a sweep of clusters", () => {
  const rows: [string, Content, string[]][] = [
    ["nothing of a living cluster", { networks: [network], living: ["default-web"] }, []],
    ["the network of a cluster that is gone", { networks: [network] }, ["network net"]],
    ["no network of its name with another description", { networks: [{ ...network, description: "mine" }] }, []],
    ["no network of another project", { networks: [{ ...network, project_id: "other" }] }, []],
    [
      "a server by its metadata",
      { servers: [node("s", "web-a", { [serverOwnerKey]: "default/web" }), node("t", "web-b")] },
      ["server s"],
    ],
    [
      "upstream's server by its port on the cluster's own network",
      {
        networks: [network],
        servers: [node("s", "web-a")],
        ports: [on({ name: "web-a-0", device_id: "s", description: description("web") })],
      },
      ["server s", "port p", "network net"],
    ],
    [
      "no server whose port is not the cluster's, and keeps the network",
      { networks: [network], servers: [node("s", "web-a")], ports: [on({ name: "web-a-0", device_id: "s" })] },
      ["network net kept"],
    ],
    [
      "no server with another name than its port",
      {
        networks: [network],
        servers: [node("s", "database")],
        ports: [on({ name: "web-a-0", device_id: "s", description: mark })],
      },
      ["network net kept"],
    ],
    [
      "no port by a bare name that a living cluster has",
      {
        ports: [{ ...on({ name: "my-web-a-0", description: description("my-web") }), network_id: "elsewhere" }],
        living: ["default-my-web"],
      },
      [],
    ],
    [
      "upstream's volumes of its servers, by name and description",
      {
        networks: [network],
        servers: [node("s", "web-a")],
        ports: [on({ name: "web-a-0", device_id: "s", description: description("web") })],
        volumes: [
          volume("v", "web-a-root", "Root volume for web-a", ["s"]),
          volume("w", "web-a-etcd", "Additional block device for web-a", ["s"]),
        ],
      },
      ["server s", "volume v", "volume w", "port p", "network net"],
    ],
    [
      "upstream's volume whose server never came, by the server's port",
      {
        networks: [network],
        ports: [on({ name: "web-a-0", description: description("web") })],
        volumes: [volume("v", "web-a-root", "Root volume for web-a")],
      },
      ["volume v", "port p", "network net"],
    ],
    [
      "no volume that another server has, or that is named or described otherwise",
      {
        networks: [network],
        servers: [node("s", "web-a"), node("t", "database")],
        ports: [on({ name: "web-a-0", device_id: "s", description: description("web") })],
        volumes: [
          volume("u", "web-a-root", "Root volume for web-a", ["s", "t"]),
          volume("v", "web-a-root", "Root volume for web-b", ["s"]),
          volume("w", "data", "Root volume for web-a", ["s"]),
          volume("x", "web-a-root", "mine", ["s"]),
          volume("y", "web-c-root", "Root volume for web-c"),
        ],
      },
      ["server s", "port p", "network net"],
    ],
    [
      "a security group unless another port uses it",
      {
        securityGroups: [
          {
            id: "g",
            name: securityGroupName("default-web", "worker"),
            description: "Cluster API managed group",
            project_id: projectId,
            tags: [],
            security_group_rules: [],
          },
        ],
        ports: [{ ...on({ security_groups: ["g"], device_id: "x" }), network_id: "elsewhere" }],
      },
      ["security group g kept"],
    ],
  ];
  test.each(rows)("deletes %s", (_, content, orphans) => expect(plan(content)).toEqual(orphans));

  test("keeps all of a cluster whose servers run, unless running ones are to be deleted", () => {
    const content = { networks: [network], servers: [node("s", "web-a", { [serverOwnerKey]: "default/web" })] };
    expect(plan(content, false)).toEqual(["server s kept", "network net kept"]);
    expect(plan(content, true)).toEqual(["server s", "network net"]);
    const stopped = content.servers.map((one) => ({ ...one, status: "SHUTOFF" as const }));
    expect(plan({ ...content, servers: stopped }, false)).toEqual(["server s", "network net"]);
  });
});
