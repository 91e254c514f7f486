import { Hono, type Context } from "hono";
import type { Ask } from "../kernel/ask.ts";
import type { Caller, Kernel, Service } from "../kernel/interface.ts";
import { bodyOf, isObject } from "../kernel/json.ts";
import { abandonData, adoptStack, forgetStack, requireNewName } from "./adopt.ts";
import { createStack } from "./create.ts";
import { createDeletion } from "./delete.ts";
import { goneTable, missingStack, stackError, stackTable, stackTree, type Stack, type StackParts } from "./model.ts";
import {
  environmentView,
  outputNames,
  outputsOf,
  resourceView,
  stackPath,
  stackView,
  summaryView,
  templateView,
} from "./views.ts";

type StackContext = Context<{ Variables: { caller: Caller } }>;

const rootOf = (c: StackContext): string => `${new URL(c.req.url).origin}/orchestration`;

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
  const remove = createDeletion(parts, ask);
  app.get("/", (c) =>
    c.json({ versions: [{ id: "v1.0", status: "CURRENT", links: [{ rel: "self", href: `${rootOf(c)}/v1/` }] }] }, 300),
  );
  app.use("/v1/:project/*", async (c, next) => {
    if (c.req.param("project") !== c.get("caller").projectId)
      throw stackError(403, "Forbidden", "You are not authorized to use this endpoint.");
    await next();
  });
  addStackRoutes(app, parts, ask);
  addResourceRoutes(app, parts);
  app.delete("/v1/:project/stacks/:name/:id", (c) => {
    remove(stackOf(parts, c), c.get("caller"));
    return c.body(null, 204);
  });
  app.delete("/v1/:project/stacks/:name/:id/abandon", (c) => {
    if (!mayAbandon) throw stackError(400, "NotSupported", "Stack Abandon is not supported.");
    const stack = stackOf(parts, c);
    if (kernel.outcome("stack.abandon", stack.name) !== "ok")
      throw stackError(400, "NotSupported", "Stack Abandon is not supported.");
    const data = abandonData(parts, stack);
    forgetStack(parts, stack);
    return c.json(data);
  });
  app.all("*", () => {
    throw stackError(404, "NotFound", "The resource could not be found.");
  });
  return { type: "orchestration", name: "heat", catalogPath: "/v1/{project_id}", app };
}

function addStackRoutes(app: Service["app"], parts: StackParts, ask: Ask): void {
  const { stacks, gone } = parts;
  app.get("/v1/:project/stacks", (c) =>
    c.json({ stacks: listed(parts, c).map((stack) => summaryView(rootOf(c), stack)) }),
  );
  app.post("/v1/:project/stacks", async (c) => {
    const body = await bodyOf(c.req);
    const given = isObject(body) ? body : {};
    const caller = c.get("caller");
    requireNewName(parts, caller, given);
    const isAdopted = given["adopt_stack_data"] !== undefined;
    const stack = isAdopted ? adoptStack(parts, caller, given) : await createStack(parts, ask, caller, given);
    const href = stackPath(rootOf(c), stack);
    return c.json({ stack: { id: stack.id, links: [{ href, rel: "self" }] } }, 201, { location: href });
  });
  app.get("/v1/:project/stacks/:ident", (c) => {
    const ident = c.req.param("ident");
    const found = ownStacks(parts, c).find(
      (stack) => stack.id === ident || (stack.name === ident && stack.owner_id === null),
    );
    const deleted = gone.get(ident);
    const shown = found ?? (deleted?.project_id === c.get("caller").projectId ? deleted : undefined);
    if (!shown) throw missingStack(ident);
    return c.redirect(stackPath(rootOf(c), shown), 302);
  });
  app.get("/v1/:project/stacks/:name/:id", (c) => {
    const deleted = gone.get(c.req.param("id"));
    const isOwn = deleted?.name === c.req.param("name") && deleted.project_id === c.get("caller").projectId;
    return c.json({ stack: stackView(rootOf(c), deleted && isOwn ? deleted : stackOf(parts, c)) });
  });
  app.get("/v1/:project/stacks/:name/:id/template", (c) => c.json(templateView(stackOf(parts, c))));
  app.get("/v1/:project/stacks/:name/:id/environment", (c) => c.json(environmentView(stackOf(parts, c))));
  app.get("/v1/:project/stacks/:name/:id/outputs", (c) => c.json({ outputs: outputNames(stackOf(parts, c)) }));
  app.get("/v1/:project/stacks/:name/:id/outputs/:key", (c) => {
    const [stack, key] = [stackOf(parts, c), c.req.param("key")];
    const output = outputsOf(stack).find(({ output_key }) => output_key === key);
    if (!output) throw stackError(404, "NotFound", `Specified output key ${key} not found.`);
    return c.json({ output });
  });
  for (const method of ["PUT", "PATCH"] as const)
    app.on(method, "/v1/:project/stacks/:name/:id", async (c) => {
      const stack = stackOf(parts, c);
      if (stack.status.endsWith("IN_PROGRESS"))
        throw stackError(
          409,
          "ActionInProgress",
          `Stack ${stack.name} already has an action (${stack.status}) in progress.`,
        );
      const body = await bodyOf(c.req);
      const given = isObject(body) && isObject(body["parameters"]) ? body["parameters"] : {};
      const parameters = method === "PATCH" ? { ...stack.parameters, ...given } : given;
      stacks.update(stack.id, {
        parameters,
        status: "UPDATE_COMPLETE",
        reason: "Stack UPDATE completed successfully",
        updated: parts.kernel.timestamp(),
      });
      return c.body(null, 202);
    });
}

function addResourceRoutes(app: Service["app"], parts: StackParts): void {
  const { stacks } = parts;
  app.get("/v1/:project/stacks/:name/:id/resources", (c) => {
    const outer = stackOf(parts, c);
    const depth = Number(c.req.query("nested_depth") ?? 0);
    if (!Number.isInteger(depth) || depth < 0)
      throw stackError(400, "HTTPBadRequest", "Only integer is acceptable by 'nested_depth'.");
    const within = stackTree(stacks, outer).filter((stack) => depthOf(parts, stack, outer.id) <= depth);
    const resources = within.flatMap((stack) =>
      stack.resources.map((resource) =>
        resourceView(rootOf(c), stack, resource, resource.isNested ? stacks.get(resource.physicalId) : undefined),
      ),
    );
    return c.json({ resources });
  });
  app.get("/v1/:project/stacks/:name/:id/resources/:resource", (c) => {
    const [stack, name] = [stackOf(parts, c), c.req.param("resource")];
    const resource = stack.resources.find((one) => one.name === name);
    if (!resource)
      throw stackError(404, "ResourceNotFound", `The Resource (${name}) could not be found in Stack ${stack.name}.`);
    const nested = resource.isNested ? stacks.get(resource.physicalId) : undefined;
    return c.json({
      resource: { ...resourceView(rootOf(c), stack, resource, nested), attributes: {}, description: "" },
    });
  });
}

function depthOf({ stacks }: StackParts, stack: Stack, outer: string): number {
  let depth = 0;
  for (let here: Stack | undefined = stack; here && here.id !== outer; depth += 1)
    here = here.owner_id === null ? undefined : stacks.get(here.owner_id);
  return depth;
}

const ownStacks = ({ stacks }: StackParts, c: StackContext): readonly Stack[] =>
  stacks.by("project_id", c.get("caller").projectId);

function listed(parts: StackParts, c: StackContext): readonly Stack[] {
  const query = (name: string) => c.req.queries(name) ?? [];
  const nested = c.req.query("show_nested")?.toLowerCase() === "true";
  const [ids, names, statuses] = [query("id"), query("name"), query("status")];
  const tags = c.req.query("tags")?.split(",") ?? [];
  const limit = Number(c.req.query("limit") ?? 1000);
  const all = ownStacks(parts, c)
    .filter((stack) => nested || stack.owner_id === null)
    .filter(({ id }) => ids.length === 0 || ids.includes(id))
    .filter(({ name }) => names.length === 0 || names.includes(name))
    .filter(({ status }) => statuses.length === 0 || statuses.includes(status))
    .filter((stack) => tags.every((tag) => stack.tags?.includes(tag)))
    .toReversed();
  const marker = c.req.query("marker");
  const start = marker === undefined ? 0 : all.findIndex(({ id }) => id === marker) + 1;
  return all.slice(start, start + limit);
}

/** The stack of a route; its name and its id have to agree, as in Heat. */
function stackOf({ stacks }: StackParts, c: StackContext): Stack {
  const [name = "", id = ""] = [c.req.param("name"), c.req.param("id")];
  const stack = stacks.get(id);
  if (!stack || stack.project_id !== c.get("caller").projectId || stack.name !== name) throw missingStack(name);
  return stack;
}
