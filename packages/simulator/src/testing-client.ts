import type { SimulatorOptions, Simulator } from "./interface.ts";
import { textAt } from "./kernel/json.ts";
import { startSimulator } from "./start.ts";

/** A response, with its body as JSON where it is JSON, else as text. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON, or the text if it is none. */
  readonly body: unknown;
}

/** A small client of a running simulator, for tests: its own HTTP, so that no shared defect hides. */
export interface Client {
  readonly simulator: Simulator;
  readonly origin: string;
  readonly projectId: string;
  readonly token: string;
  /** `path` from the root: "/compute/v2.1/servers". `version` is the microversion, "compute 2.79". */
  readonly call: (method: string, path: string, body?: unknown, version?: string) => Promise<Answer>;
}

/** Starts a simulator, and a client of it as one of the seeded users. */
export async function startClient(options: SimulatorOptions = {}, user = "demo"): Promise<Client> {
  return clientOf(await startSimulator(options), user);
}

/** A client as one of the seeded users, on the project of the same name. */
export async function clientOf(simulator: Simulator, user = "demo"): Promise<Client> {
  const origin = new URL(simulator.authUrl).origin;
  const answer = await send(`${origin}/identity/v3/auth/tokens`, { method: "POST", body: passwordBody(user) });
  const token = answer.headers.get("x-subject-token") ?? "";
  return {
    simulator,
    origin,
    token,
    projectId: textAt(answer.body, "token", "project", "id") ?? "",
    call: (method, path, body, version) =>
      send(origin + path, {
        method,
        headers: { "x-auth-token": token, ...(version === undefined ? {} : { "openstack-api-version": version }) },
        body,
      }),
  };
}

/** The body of POST /v3/auth/tokens for a token of a project; both are of domain Default. */
export const passwordBody = (user: string, project = user, password = "devcloud") => ({
  auth: {
    identity: { methods: ["password"], password: { user: { name: user, domain: { name: "Default" }, password } } },
    scope: { project: { name: project, domain: { id: "default" } } },
  },
});

interface Sent {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Sends a request whose body, if any, is JSON; a response of any status is returned. */
export async function send(url: string, { method, headers = {}, body }: Sent): Promise<Answer> {
  const json = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(url, { method, headers: { "content-type": "application/json", ...headers }, ...json });
  const text = await response.text();
  let parsed: unknown = text;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Some of the real services' errors are pages.
  }
  return { status: response.status, headers: response.headers, body: parsed };
}
