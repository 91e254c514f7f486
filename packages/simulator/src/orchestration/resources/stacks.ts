import type { Ask } from "../../kernel/ask.ts";
import type { Service } from "../../kernel/interface.ts";
import { bodyOf, isObject } from "../../kernel/json.ts";
import { abandonData, adoptStack, forgetStack, requireNewName } from "../rules/adopt.ts";
import { createStack } from "../rules/create.ts";
import { createDeletion } from "../rules/delete.ts";
import { missingStack, stackError, type Stack, type StackParts } from "../model.ts";
import { rootOf, stackOf, type StackContext } from "../kit/request.ts";
import { environmentView, outputNames, outputsOf, stackPath, stackView, summaryView, templateView } from "../views.ts";

/** Stacks: list, create, adopt, show and update. */
export function mountStacks(app: Service["app"], parts: StackParts, ask: Ask): void {
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

/** What ends a stack: deletion with its resources, and abandoning without. */
export function mountStackEnds(
  app: Service["app"],
  parts: StackParts,
  { ask, mayAbandon }: { readonly ask: Ask; readonly mayAbandon: boolean },
): void {
  const remove = createDeletion(parts, ask);
  app.delete("/v1/:project/stacks/:name/:id", (c) => {
    remove(stackOf(parts, c), c.get("caller"));
    return c.body(null, 204);
  });
  app.delete("/v1/:project/stacks/:name/:id/abandon", (c) => {
    if (!mayAbandon) throw stackError(400, "NotSupported", "Stack Abandon is not supported.");
    const stack = stackOf(parts, c);
    if (parts.kernel.outcome("stack.abandon", stack.name) !== "ok")
      throw stackError(400, "NotSupported", "Stack Abandon is not supported.");
    const data = abandonData(parts, stack);
    forgetStack(parts, stack);
    return c.json(data);
  });
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
