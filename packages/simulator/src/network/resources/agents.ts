import type { NetworkApp } from "../kit/collection.ts";
import { neutronError, resourceMissing } from "../errors.ts";
import type { NetworkState } from "../model.ts";

const hosts = [
  { host: "compute-1", agent_type: "OVN Controller Gateway agent" },
  { host: "compute-2", agent_type: "OVN Controller agent" },
] as const;

/** Compared as they are: OVN's driver finds no agent by `alive`, which is no text. */
const filters: readonly string[] = ["host", "agent_type", "binary", "id", "topic", "alive", "admin_state_up"];

/** GET /agents: OVN's controllers, one on each host. Administrators only; others see none. */
export function mountAgents(app: NetworkApp, { kernel }: NetworkState): void {
  const agents = () =>
    hosts.map(({ host, agent_type }) => ({
      binary: "ovn-controller",
      host,
      heartbeat_timestamp: kernel.timestamp().replace("T", " ").replace("Z", "+00:00"),
      availability_zone: "",
      topic: "n/a",
      description: "",
      configurations: { chassis_name: host, "bridge-mappings": "public:br-ex" },
      agent_type,
      id: host,
      alive: true,
      admin_state_up: true,
    }));
  app.get("/v2.0/agents", (c) => {
    const query = new URL(c.req.url).searchParams;
    const asked = [...query].filter(([key]) => filters.includes(key));
    const found = agents().filter((agent) =>
      asked.every(([key, value]) =>
        Object.entries(agent).some(
          ([field, has]) =>
            field === key && (key === "admin_state_up" ? value.toLowerCase() === `${has === true}` : has === value),
        ),
      ),
    );
    return c.json({ agents: c.var.caller.isAdmin ? found : [] });
  });
  app.get("/v2.0/agents/:id", (c) => {
    if (!c.var.caller.isAdmin) throw resourceMissing();
    const id = c.req.param("id");
    const agent = agents().find((one) => one.id === id);
    if (!agent) throw neutronError(404, "AgentNotFound", `Agent ${id} could not be found.`);
    return c.json({ agent });
  });
}
