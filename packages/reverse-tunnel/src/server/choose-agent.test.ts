import { describe, expect, test } from "vitest";
import { chooseAgent, readIdentifiers, type ProxyStrategy } from "./choose-agent.ts";

const agent = (name: string, identifiers = "", more: { isDraining?: boolean; streams?: number } = {}) => ({
  name,
  identifiers: readIdentifiers(identifiers),
  isDraining: more.isDraining ?? false,
  streams: more.streams ?? 0,
});
const all: ProxyStrategy[] = ["destHost", "defaultRoute", "default"];

describe("an agent for a connection is the one", () => {
  const near = agent("near", "host=node-1&ipv4=10.0.0.1");
  const network = agent("network", "cidr=10.1.0.0/16");
  const route = agent("route", "default-route=true");
  const plain = agent("plain");
  const rows: [
    title: string,
    agents: (typeof plain)[],
    host: string,
    strategies: ProxyStrategy[],
    name: string | undefined,
  ][] = [
    ["that is at the host's address", [plain, near, route], "10.0.0.1", all, "near"],
    ["that has the host's name, whatever its case", [plain, near], "Node-1", all, "near"],
    ["that is in the host's network", [plain, network], "10.1.2.3", all, "network"],
    ["that is the default route, of no better one", [plain, near, route], "10.9.9.9", all, "route"],
    ["of all, where there is no better one", [plain], "10.9.9.9", all, "plain"],
    ["of none, where no strategy has one", [plain], "10.9.9.9", ["destHost", "defaultRoute"], undefined],
    ["that does not drain", [agent("old", "", { isDraining: true }), plain], "10.9.9.9", all, "plain"],
    ["that drains, where all do", [agent("old", "", { isDraining: true })], "10.9.9.9", all, "old"],
    ["of none, where none is connected", [], "10.9.9.9", all, undefined],
  ];
  test.each(rows)("%s", (_title, agents, host, strategies, name) => {
    expect(chooseAgent(agents, host, strategies, () => 0)?.name).toBe(name);
  });

  test("with the fewer streams of two", () => {
    const numbers = [0, 0.99];
    const agents = [agent("busy", "", { streams: 9 }), agent("free")];
    expect(chooseAgent(agents, "h", ["default"], () => numbers.shift() ?? 0)?.name).toBe("free");
  });
});
