import { expect } from "vitest";
import type { Answer, Context, Json, Raw } from "../interface.ts";

/** Short words for what cases do again and again. */

export function configMap(name: string, more: Json = {}): Json {
  const { metadata, ...rest } = more;
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...(metadata as Json | undefined) }, ...rest };
}

/** What is at a path of field names and list indexes. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let here = value;
  for (const step of path) here = (here as Record<string | number, unknown> | null | undefined)?.[step];
  return here;
}

export function items(answer: Answer): Json[] {
  return (answer.body["items"] as Json[] | undefined) ?? [];
}

export function names(answer: Answer): unknown[] {
  return items(answer).map((i) => at(i, "metadata", "name"));
}

/** A Status of this code and reason, saying this. */
export function refused(answer: Answer, code: number, reason: string, message?: string | RegExp): void {
  const { body } = answer;
  expect({ code: answer.code, reason: body["reason"], message: body["message"] }).toEqual({
    code,
    reason,
    message:
      message === undefined
        ? expect.any(String)
        : typeof message === "string"
          ? message
          : expect.stringMatching(message),
  });
  expect(body).toMatchObject({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code });
}

/** As `refused` with 422, and each cause as "field: message". */
export function invalid(answer: Answer, ...causes: readonly string[]): void {
  expect({ code: answer.code, reason: answer.body["reason"], causes: causesOf(answer) }).toEqual({
    code: 422,
    reason: "Invalid",
    causes,
  });
}

export function causesOf({ body }: Answer): string[] {
  const causes = at(body, "details", "causes") as { field?: string; message: string }[] | undefined;
  return (causes ?? [body["message"] as { field?: string; message: string }]).map(
    (c) => `${c.field ?? ""}: ${c.message}`,
  );
}

export async function made(answer: Promise<Answer>): Promise<Json> {
  const { code, body } = await answer;
  expect({ code, message: body["message"] }).toEqual({ code: 201, message: body["message"] });
  return body;
}

export async function done(answer: Promise<Answer>): Promise<Json> {
  const { code, body } = await answer;
  expect({ code, message: body["message"] }).toEqual({ code: 200, message: body["message"] });
  return body;
}

/** Repeats until `probe` gives something ("false" and "undefined" are nothing yet), for at most five seconds. */
export async function eventually<T>(probe: () => Promise<T | false | undefined>, what = "it"): Promise<T> {
  const end = Date.now() + 5000;
  for (;;) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`${what} did not happen in five seconds`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

export function gone(api: Raw, path: string): Promise<true> {
  return eventually(async () => ((await api.get(path)).code === 404 ? true : undefined), `the end of ${path}`);
}

/** Applies as a field manager; `force` takes what others own. */
export function apply(api: Raw, path: string, body: unknown, manager: string, force = false): Promise<Answer> {
  const query = `fieldManager=${manager}${force ? "&force=true" : ""}`;
  return api.patch(`${path}${path.includes("?") ? "&" : "?"}${query}`, "apply", body);
}

/** Grants verbs on resources of one namespace to one user. */
export async function grant({ api, apis }: Context, user: string, rules: readonly Json[]): Promise<void> {
  const rbac = "rbac.authorization.k8s.io";
  const role = { apiVersion: `${rbac}/v1`, kind: "Role", metadata: { name: user }, rules };
  await made(api.post(apis(`${rbac}/v1`, "roles"), role));
  const binding = {
    apiVersion: `${rbac}/v1`,
    kind: "RoleBinding",
    metadata: { name: user },
    roleRef: { apiGroup: rbac, kind: "Role", name: user },
    subjects: [{ kind: "User", name: user, apiGroup: rbac }],
  };
  await made(api.post(apis(`${rbac}/v1`, "rolebindings"), binding));
}
