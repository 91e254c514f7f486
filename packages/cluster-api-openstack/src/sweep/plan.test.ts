import { describe, expect, test } from "vitest";
import { description, networkName, serverOwnerKey } from "../resources/naming.ts";
import { groups, mark, network, node, on, plan, volume, type Content } from "../testing/sweep-world.ts";

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
      "upstream's port by the cluster's bare name, only on the cluster's own network",
      {
        networks: [network],
        ports: [
          on({ name: "web-a-0", description: description("web") }),
          { ...on({ description: description("web") }), id: "far", network_id: "elsewhere" },
        ],
      },
      ["port p", "network net"],
    ],
    [
      "a port with the whole name of a cluster that has nothing else",
      { ports: [{ ...on({ description: mark }), network_id: "elsewhere" }], living: ["web", "other-default-we"] },
      ["port p"],
    ],
    [
      "no port by a bare name that a cluster which is gone has, too",
      {
        networks: [{ ...network, name: networkName("default-my-web"), description: description("default-my-web") }],
        ports: [{ ...on({ description: description("my-web") }), network_id: "elsewhere" }],
      },
      ["network net"],
    ],
    [
      "a port with the name of a cluster whose server is left, though another's name ends with it",
      {
        ports: [{ ...on({ description: description("my-web") }), network_id: "elsewhere" }],
        servers: [node("s", "n", { [serverOwnerKey]: "my/web" })],
        living: ["default-my-web"],
      },
      ["server s", "port p"],
    ],
    [
      "no volume whose name only begins like its server's",
      {
        networks: [network],
        ports: [on({ name: "web-a-0", description: description("web") })],
        volumes: [
          volume("v", "web-ab-root", "Root volume for web-a"),
          volume("w", "web-a-root", "Root volume for web-a x"),
        ],
      },
      ["port p", "network net"],
    ],
    [
      "upstream's volume of a server that has another ID, by the server's name",
      {
        networks: [network],
        servers: [node("s", "web-a", { [serverOwnerKey]: "default/web" })],
        volumes: [volume("v", "web-a-root", "Root volume for web-a")],
      },
      ["server s", "volume v", "network net"],
    ],
    [
      "a security group unless another port uses it",
      {
        securityGroups: groups.filter(({ id }) => id === "worker"),
        ports: [{ ...on({ security_groups: ["worker"], device_id: "x" }), network_id: "elsewhere" }],
      },
      ["security group worker kept"],
    ],
  ];
  test.each(rows)("deletes %s", (_, content, orphans) => expect(plan(content)).toEqual(orphans));

  test("keeps all of a cluster whose servers run, unless running ones are to be deleted", () => {
    const content = { networks: [network], servers: [node("s", "web-a", { [serverOwnerKey]: "default/web" })] };
    expect(plan({ ...content, running: false })).toEqual(["server s kept", "network net kept"]);
    expect(plan({ ...content, running: true })).toEqual(["server s", "network net"]);
    const stopped = content.servers.map((one) => ({ ...one, status: "SHUTOFF" as const }));
    expect(plan({ ...content, servers: stopped, running: false })).toEqual(["server s", "network net"]);
  });
});
