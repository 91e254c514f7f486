import type { RawCase } from "../case.ts";

export const service = "container-infra";
export const newest = { "openstack-api-version": "container-infra 1.10" };
const base = { name: "{run}-t", coe: "kubernetes", image_id: "fedora-coreos", external_network_id: "public" };

/** A template of the base and more; it is deleted again. */
export const template = (
  says: string,
  more: Readonly<Record<string, unknown>>,
  rest: Partial<RawCase> = {},
): RawCase => ({
  says,
  call: "POST /clustertemplates",
  headers: newest,
  body: { ...base, ...more },
  keep: { made: "uuid" },
  undo: "DELETE /clustertemplates/{made}",
  ...rest,
});

export const get = (says: string, path: string, rest: Partial<RawCase> = {}): RawCase => ({
  says,
  call: `GET ${path}`,
  headers: newest,
  ...rest,
});

/** The template that most cases of a group work on. */
export const kept: RawCase = template(
  "a template is created",
  {},
  { keep: { id: "uuid" }, undo: "DELETE /clustertemplates/{id}" },
);

export const shown = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 12)}… of ${text.length} characters` : text;
};

export const op = (path: string, kind: string, value?: unknown) => ({
  path,
  op: kind,
  ...(value === undefined ? {} : { value }),
});
