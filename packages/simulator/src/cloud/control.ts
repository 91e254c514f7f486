import { Hono } from "hono";
import { at, bodyOf, isObject } from "../kernel/json.ts";
import type { Outcome } from "../kernel/interface.ts";
import type { OwnedKernel } from "../kernel/kernel.ts";
import { ServiceError } from "../kernel/service-error.ts";
import type { OutcomeRule } from "../kernel/settings.ts";
import type { CallLog } from "./calls.ts";
import { cloudsYamlOf } from "./clouds-yaml.ts";
import { faultRulesOf } from "./fault-rules.ts";
import type { Faults } from "./faults.ts";
import { mountState, type Snapshots } from "./snapshots.ts";

/** What the control API reads and changes of the cloud; it is no OpenStack service and takes no token. */
export interface Controlled {
  readonly kernel: OwnedKernel;
  readonly calls: CallLog;
  readonly faults: Faults;
  /** A project's id, from its id or name. */
  readonly projectId: (idOrName: string) => string;
  readonly snapshots: Snapshots;
  readonly region: string;
  /** What the services serve. */
  readonly routes: () => readonly Route[];
}

/** "GET" and "/network/v2.0/ports/:id". */
export interface Route {
  readonly method: string;
  readonly path: string;
}

const refuse = (message: string) => new ServiceError(400, { error: { code: 400, title: "Bad Request", message } });

/**
 * The orders a person or a test in another process gives to the cloud. No token: as open as the cloud itself; see the
 * README.
 */
export function controlApp(controlled: Controlled): Hono {
  const { kernel, calls, faults, projectId, region, routes } = controlled;
  const app = new Hono();
  // A page in a browser cannot send JSON to another origin unasked.
  app.use("*", async (c, next) => {
    if (c.req.method !== "GET" && !c.req.header("content-type")?.startsWith("application/json")) {
      throw refuse("Send Content-Type: application/json.");
    }
    await next();
    kernel.flush();
  });
  app.get("/", (c) =>
    c.json({
      control: [...new Set(app.routes.filter(({ method }) => method === "GET").map(({ path }) => path))].sort(),
    }),
  );
  app.get("/calls", (c) => {
    const after = Number(c.req.query("after") ?? 0);
    return c.json({ calls: calls.records.filter((call) => call.sequence > after) });
  });
  app.post("/calls", (c) => {
    calls.clear();
    return c.json({ calls: [] });
  });
  app.get("/inventory", (c) => {
    const project = c.req.query("project");
    return c.json({ inventory: kernel.inventory(project === undefined ? undefined : projectId(project)) });
  });
  // With the host and port that the request named: those of a container's published port, too.
  app.get("/clouds.yaml", (c) => c.text(cloudsYamlOf(`${new URL(c.req.url).origin}/identity/v3`, region)));
  app.get("/routes", (c) => c.json({ routes: routes() }));
  app.get("/failures", (c) => c.json({ failures: kernel.failures }));
  app.get("/faults", (c) => c.json({ faults: faults.rules }));
  app.post("/faults", async (c) => {
    faults.rules = faultRulesOf(at(await bodyOf(c.req), "faults"));
    return c.json({ faults: faults.rules });
  });
  mountSettings(app, controlled);
  mountState(app, kernel, controlled.snapshots);
  return app;
}

function mountSettings(app: Hono, { kernel, projectId }: Controlled): void {
  app.get("/quotas", (c) => c.json({ quotas: kernel.settings.quotas() }));
  app.post("/quotas", async (c) => {
    const body = await bodyOf(c.req);
    const [project, limits] = [at(body, "project"), at(body, "limits")];
    if (typeof project !== "string" || !isObject(limits)) throw refuse('Send {"project": …, "limits": {"port": 3}}.');
    for (const [resource, limit] of Object.entries(limits)) {
      if (limit !== null && typeof limit !== "number") throw refuse(`The limit of ${resource} is not a number.`);
      kernel.setQuota(projectId(project), resource, limit ?? undefined);
    }
    return c.json({ quotas: kernel.settings.quotas() });
  });
  app.get("/delays", (c) => c.json({ delays: Object.fromEntries(kernel.settings.delays) }));
  app.post("/delays", async (c) => {
    const delays = at(await bodyOf(c.req), "delays");
    if (!isObject(delays)) throw refuse('Send {"delays": {"server.create": 1500}}.');
    for (const [operation, delay] of Object.entries(delays)) {
      if (typeof delay !== "number" || delay < 0)
        throw refuse(`The delay of ${operation} is not a number of milliseconds.`);
      kernel.settings.delays.set(operation, delay);
    }
    return c.json({ delays: Object.fromEntries(kernel.settings.delays) });
  });
  app.get("/outcomes", (c) => c.json({ outcomes: kernel.settings.outcomes }));
  app.post("/outcomes", async (c) => {
    const outcomes = at(await bodyOf(c.req), "outcomes");
    if (!Array.isArray(outcomes)) throw refuse('Send {"outcomes": [{"operation": …, "name": …, "outcome": "error"}]}.');
    kernel.settings.outcomes = outcomes.map(outcomeRule);
    return c.json({ outcomes: kernel.settings.outcomes });
  });
}

function outcomeRule(given: unknown): OutcomeRule {
  const [operation, name, outcome] = [at(given, "operation"), at(given, "name"), at(given, "outcome")];
  if (typeof operation !== "string" || (outcome !== "ok" && outcome !== "error" && outcome !== "stuck")) {
    throw refuse('An outcome has an operation, and "ok", "error" or "stuck".');
  }
  const kind: Outcome = outcome;
  return typeof name === "string" ? { operation, name, outcome: kind } : { operation, outcome: kind };
}
