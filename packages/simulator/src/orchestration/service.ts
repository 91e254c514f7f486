import { Hono } from "hono";
import type { Ask } from "../kernel/ask.ts";
import type { Kernel, Service } from "../kernel/interface.ts";
import { goneTable, stackError, stackTable, type StackParts } from "./model.ts";
import { mountResources } from "./resources/resources.ts";
import { mountStackEnds, mountStacks } from "./resources/stacks.ts";
import { rootOf } from "./kit/request.ts";

/** What an operator can set in heat.conf. */
export interface OrchestrationOptions {
  /** enable_stack_abandon, which Heat's own default has off. */
  readonly mayAbandon: boolean;
}

/**
 * Heat v1 as far as existing stacks go: they are adopted (POST with adopt_stack_data), read with their nested ones,
 * abandoned and deleted. Templates may have networks, ports and groups of them. The outcome "error" of operation
 * "stack.abandon" refuses to abandon a stack.
 */
export function createOrchestrationService(kernel: Kernel, ask: Ask, { mayAbandon }: OrchestrationOptions): Service {
  const stacks = stackTable(kernel);
  const parts: StackParts = { kernel, stacks, gone: goneTable(kernel) };
  const app: Service["app"] = new Hono();
  app.get("/", (c) =>
    c.json({ versions: [{ id: "v1.0", status: "CURRENT", links: [{ rel: "self", href: `${rootOf(c)}/v1/` }] }] }, 300),
  );
  app.use("/v1/:project/*", async (c, next) => {
    if (c.req.param("project") !== c.get("caller").projectId)
      throw stackError(403, "Forbidden", "You are not authorized to use this endpoint.");
    await next();
  });
  mountStacks(app, parts, ask);
  mountStackEnds(app, parts, { ask, mayAbandon });
  mountResources(app, parts);
  app.all("*", () => {
    throw stackError(404, "NotFound", "The resource could not be found.");
  });
  return { type: "orchestration", name: "heat", catalogPath: "/v1/{project_id}", app };
}
