import { at, isObject, type JsonObject } from "../kernel/json.ts";
import type { Stack, StackResource } from "./model.ts";

type View = Readonly<Record<string, unknown>>;

/** The URL of a stack: below its project, by name and id. */
export const stackPath = (root: string, { name, id, project_id }: Stack): string =>
  `${root}/v1/${project_id}/stacks/${name}/${id}`;

const selfLink = (root: string, stack: Stack) => [{ href: stackPath(root, stack), rel: "self" }];

/** As lists have it. */
export function summaryView(root: string, stack: Stack): View {
  return {
    id: stack.id,
    stack_name: stack.name,
    description: "",
    stack_status: stack.status,
    stack_status_reason: stack.reason,
    creation_time: stack.created,
    updated_time: stack.updated,
    deletion_time: null,
    stack_owner: stack.owner_id === null ? stack.user_id : null,
    parent: stack.owner_id,
    stack_user_project_id: stack.project_id,
    tags: stack.tags,
    links: selfLink(root, stack),
  };
}

/** As a read of one has it: hidden parameters are masked. */
export function stackView(root: string, stack: Stack): View {
  return {
    ...summaryView(root, stack),
    description: stack.template["description"] ?? "No description",
    tags: stack.tags ?? [],
    parameters: maskedParameters(stack),
    ...(stack.status === "DELETE_COMPLETE" ? {} : { outputs: outputsOf(stack) }),
    capabilities: [],
    notification_topics: [],
    disable_rollback: true,
    timeout_mins: 60,
    template_description: stack.template["description"] ?? "No description",
  };
}

/** A stack's outputs with their values; null where one has none. */
export function outputsOf({ template }: Stack): View[] {
  const outputs = template["outputs"];
  return Object.entries(isObject(outputs) ? outputs : {}).map(([output_key, output]) => ({
    output_key,
    output_value: at(output, "resolved") ?? at(output, "value") ?? null,
    description: at(output, "description") ?? "No description given",
  }));
}

/** As a list of outputs has them: without values. */
export const outputNames = (stack: Stack): View[] =>
  outputsOf(stack).map(({ output_key, description }) => ({ output_key, description }));

function maskedParameters({ template, parameters, name, id, project_id }: Stack): JsonObject {
  const shown = Object.entries(parameters).map(([key, value]) => [
    key,
    at(template, "parameters", key, "hidden") === true ? "******" : value,
  ]);
  return {
    ...Object.fromEntries(shown),
    "OS::stack_name": name,
    "OS::stack_id": id,
    "OS::project_id": project_id,
  };
}

/** As it was given: what its outputs are is not in it. */
export function templateView({ template }: Stack): View {
  const outputs = template["outputs"];
  if (!isObject(outputs)) return template;
  const given = Object.entries(outputs).map(([key, output]) => {
    const { resolved: _, ...rest } = isObject(output) ? output : {};
    return [key, rest];
  });
  return { ...template, outputs: Object.fromEntries(given) as JsonObject };
}

/** Hidden parameters are masked here, too. */
export function environmentView({ template, parameters }: Stack): View {
  const shown = Object.entries(parameters).map(([key, value]) => [
    key,
    at(template, "parameters", key, "hidden") === true ? "******" : value,
  ]);
  return {
    resource_registry: { resources: {} },
    parameters: Object.fromEntries(shown) as JsonObject,
    parameter_defaults: {},
    event_sinks: [],
    encrypted_param_names: [],
  };
}

/** A resource in a list or alone; `parent` is the resource that its stack is of the stack around it. */
export function resourceView(root: string, stack: Stack, resource: StackResource, nested: Stack | undefined): View {
  const base = stackPath(root, stack);
  return {
    resource_name: resource.name,
    logical_resource_id: resource.name,
    physical_resource_id: resource.physicalId,
    resource_type: resource.type,
    resource_status: resource.status,
    resource_status_reason: resource.reason,
    creation_time: stack.created,
    updated_time: stack.updated ?? stack.created,
    required_by: resource.requiredBy ?? [],
    ...(stack.parent_resource === null ? {} : { parent_resource: stack.parent_resource }),
    links: [
      { href: `${base}/resources/${resource.name}`, rel: "self" },
      { href: base, rel: "stack" },
      ...(nested === undefined ? [] : [{ href: stackPath(root, nested), rel: "nested" }]),
    ],
  };
}
