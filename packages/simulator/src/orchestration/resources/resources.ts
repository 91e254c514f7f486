import type { Service } from "../../kernel/interface.ts";
import { stackError, stackTree, type Stack, type StackParts } from "../model.ts";
import { rootOf, stackOf } from "../kit/request.ts";
import { resourceView } from "../views.ts";

/** The resources of a stack and of those in it. */
export function mountResources(app: Service["app"], parts: StackParts): void {
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
