import type { Caller } from "../../kernel/interface.ts";
import { at, isObject, textAt, type JsonObject } from "../../kernel/json.ts";
import { stackError, stackTree, type Stack, type StackParts, type StackResource } from "../model.ts";

/** Most resources of one stack, nested ones included: what Heat's max_resources_per_stack has by default. */
const MOST_RESOURCES = 1000;

const invalid = (message: string) => stackError(400, "StackValidationFailed", message);

/** A stack from the data that abandoning one returns: the resources are in the cloud already. */
export function adoptStack(parts: StackParts, caller: Caller, body: JsonObject): Stack {
  const { kernel, stacks } = parts;
  const name = requireNewName(parts, caller, body);
  const data = parsed(body["adopt_stack_data"]);
  const tags = textAt(body, "tags");
  let rest = MOST_RESOURCES;
  const add = (given: JsonObject, own: Pick<Stack, "name" | "owner_id" | "parent_resource" | "tags">): Stack => {
    const id = kernel.newId();
    const entries = Object.entries(at(given, "resources") ?? {});
    rest -= entries.length;
    if (rest < 0) throw stackError(403, "RequestLimitExceeded", "Maximum resources per stack exceeded.");
    const resources = entries.map(([key, resource]) =>
      adoptResource(
        key,
        resource,
        (nested) =>
          add(nested, { name: `${own.name}-${key}-${id.slice(0, 12)}`, owner_id: id, parent_resource: key, tags: null })
            .id,
      ),
    );
    return stacks.insert({
      id,
      ...own,
      project_id: caller.projectId,
      user_id: caller.userId,
      status: `${textAt(given, "action") ?? "CREATE"}_${textAt(given, "status") ?? "COMPLETE"}`,
      reason: textAt(given, "status_reason") ?? "Stack CREATE completed successfully",
      parameters: objectAt(given, "environment", "parameters"),
      template: objectAt(given, "template"),
      resources,
      created: kernel.timestamp(),
      updated: null,
    });
  };
  return kernel.atomic(() =>
    add(data, { name, owner_id: null, parent_resource: null, tags: tags === undefined ? null : tags.split(",") }),
  );
}

/** @throws StackValidationFailed, StackExists */
export function requireNewName({ stacks }: StackParts, caller: Caller, body: JsonObject): string {
  const name = textAt(body, "stack_name") ?? "";
  if (!/^[a-zA-Z][a-zA-Z0-9_.-]{0,254}$/.test(name))
    throw invalid(
      `Invalid stack name ${name} must contain only alphanumeric or "_-." characters, must start with alpha`,
    );
  const isTaken = stacks.by("name", name).some((one) => one.project_id === caller.projectId && one.owner_id === null);
  if (isTaken) throw stackError(409, "StackExists", `The Stack (${name}) already exists.`);
  return name;
}

function adoptResource(name: string, given: unknown, nest: (data: JsonObject) => string): StackResource {
  const type = textAt(given, "type");
  if (type === undefined) throw invalid(`Invalid adopt data: resource ${name} has no type`);
  const isNested = isObject(given) && isObject(given["resources"]);
  return {
    name,
    type,
    physicalId: isNested ? nest(given) : (textAt(given, "resource_id") ?? ""),
    status: `${textAt(given, "action") ?? "CREATE"}_${textAt(given, "status") ?? "COMPLETE"}`,
    reason: "state changed",
    isNested,
  };
}

/** What abandoning a stack returns: everything that is needed to adopt it again. */
export function abandonData({ stacks }: Pick<StackParts, "stacks">, stack: Stack): JsonObject {
  const dot = stack.status.indexOf("_");
  const resources = stack.resources.map((resource) => {
    const nested = resource.isNested ? stacks.get(resource.physicalId) : undefined;
    const own = {
      name: resource.name,
      type: resource.type,
      resource_id: resource.physicalId,
      action: "CREATE",
      status: "COMPLETE",
      metadata: {},
      resource_data: {},
    };
    return [resource.name, nested === undefined ? own : { ...abandonData({ stacks }, nested), ...own }];
  });
  return {
    name: stack.name,
    id: stack.id,
    action: stack.status.slice(0, dot),
    status: stack.status.slice(dot + 1),
    template: stack.template,
    environment: { parameters: stack.parameters },
    project_id: stack.project_id,
    stack_user_project_id: stack.project_id,
    tags: stack.tags,
    resources: Object.fromEntries(resources) as JsonObject,
  };
}

/** Removes a stack and the nested ones; what they are made of remains in the cloud. */
export function forgetStack({ kernel, stacks, gone }: StackParts, stack: Stack): void {
  const state = {
    status: "DELETE_COMPLETE",
    reason: "Stack DELETE completed successfully",
    updated: kernel.timestamp(),
  };
  gone.insert({ ...stack, ...state, resources: [], template: withoutOutputs(stack.template) });
  for (const { id } of stackTree(stacks, stack)) stacks.remove(id);
}

function withoutOutputs(template: JsonObject): JsonObject {
  const { outputs: _, ...rest } = template;
  return rest;
}

function parsed(given: unknown): JsonObject {
  if (typeof given !== "string") throw invalid("adopt_stack_data is no text");
  try {
    const data = JSON.parse(given) as unknown;
    if (isObject(data)) return data;
  } catch {
    // Reported below.
  }
  throw invalid("Invalid adopt data");
}

function objectAt(given: unknown, ...path: readonly string[]): JsonObject {
  const found = at(given, ...path);
  return isObject(found) ? found : {};
}
