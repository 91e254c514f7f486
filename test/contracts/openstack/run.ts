import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { CloudConfig } from "@causeway/openstack";
import type { RawCase, RawGroup, ComparableAnswer, Account } from "./case.ts";
import { at, isRecord, settled, shapeOf } from "./shape.ts";

export type Accounts = Readonly<Record<Account, CloudConfig>>;

export interface Session {
  readonly token: string;
  readonly projectId: string;
  readonly userId: string;
  readonly endpoint: (type: string) => string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: unknown;
}

interface Request {
  readonly method: string;
  readonly url: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Milliseconds that an answer may take, that what is awaited may take, and between two reads of it. */
const [DEADLINE, TIMEOUT, PAUSE] = [120_000, 300_000, 250];
const compared = [
  "content-type",
  "location",
  "openstack-api-version",
  "x-openstack-nova-api-version",
  "x-openstack-manila-api-version",
  "retry-after",
  "allow",
];

/** Logs all accounts in, by requests of its own: the SDK is no part of this suite. */
export async function openRaw(accounts: Accounts): Promise<Readonly<Record<Account, Session>>> {
  const entries = Object.entries(accounts) as [Account, CloudConfig][];
  const sessions = await Promise.all(entries.map(async ([who, config]) => [who, await logIn(config)] as const));
  return Object.fromEntries(sessions) as Record<Account, Session>;
}

async function logIn(config: CloudConfig): Promise<Session> {
  const { auth, scope, authUrl } = config;
  if (auth.type !== "password") throw new Error(`${config.name} has no password`);
  const domain = { name: "Default" };
  const user = { name: auth.username, domain, password: auth.password };
  const body = {
    auth: {
      identity: { methods: ["password"], password: { user } },
      scope: { project: { name: scope?.projectName, domain } },
    },
  };
  const answer = await send({ method: "POST", url: `${authUrl}/auth/tokens`, body });
  const catalog = at(answer.body, "token.catalog") as readonly {
    type: string;
    endpoints: readonly { interface: string; url: string }[];
  }[];
  return {
    token: answer.headers.get("x-subject-token") ?? "",
    projectId: String(at(answer.body, "token.project.id")),
    userId: String(at(answer.body, "token.user.id")),
    endpoint: (type) => catalog.find((s) => s.type === type)?.endpoints.find((e) => e.interface === "public")?.url,
  };
}

async function send({ method, url, body, headers = {} }: Request): Promise<Answer> {
  const raw = typeof body === "string" || body === undefined;
  const response = await fetch(url, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: raw ? body : JSON.stringify(body) }),
    redirect: "manual",
    signal: AbortSignal.timeout(DEADLINE),
  });
  const text = await response.text();
  let parsed: unknown = text;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Pages and nothing at all are compared as text.
  }
  return { status: response.status, headers: response.headers, text, body: parsed };
}

/** What may follow the cases of a group, before what they made is undone. */
export interface GroupRun {
  /** What the cases kept. */
  readonly values: ReadonlyMap<string, string>;
  readonly ask: (each: RawCase) => Promise<Answer>;
}

/**
 * Runs a group on a cloud and gives what was seen for each case, by its sentence; "undefined": the cloud has no such
 * service.
 */
export async function runGroup(
  group: RawGroup,
  sessions: Readonly<Record<Account, Session>>,
  then: (groupRun: GroupRun) => Promise<void> = async () => {},
): Promise<ReadonlyMap<string, ComparableAnswer> | undefined> {
  const endpoint = sessions.member.endpoint(group.service);
  if (endpoint === undefined) return undefined;
  const run = `c${randomBytes(4).toString("hex")}`;
  const { member, alt, admin, reader } = sessions;
  const values = new Map<string, string>([
    ["run", run],
    ["project", member.projectId],
    ["user", member.userId],
    ["altProject", alt.projectId],
    ["adminProject", admin.projectId],
    ["adminUser", admin.userId],
    ["readerUser", reader.userId],
    ["nothing", "7f0e2f1c-3b56-4a61-9d4c-5a0f4b3e2d10"],
  ]);
  const seen = new Map<string, ComparableAnswer>();
  const undo: RawCase[] = [];
  try {
    for (const each of group.cases) {
      const answer = await ask(each, { group, sessions, values });
      for (const [name, path] of Object.entries(each.keep ?? {})) values.set(name, textOf(at(answer.body, path)));
      for (const [name, header] of Object.entries(each.keepHeaders ?? {}))
        values.set(name, answer.headers.get(header) ?? "");
      const back = each.undo === undefined ? undoOf(each, answer) : each.undo;
      if (back !== undefined && answer.status < 300) {
        undo.unshift(undoing(each, filled(back, values)));
      }
      seen.set(each.says, comparable(each, answer, wordsOf(group, sessions, run)));
    }
    await then({ values, ask: (each) => ask(each, { group, sessions, values }) });
  } finally {
    for (const each of undo) await undone(each, { group, sessions, values });
  }
  return seen;
}

/** The request that undoes a case, by the account and with the headers of the case. */
const undoing = ({ as = "member", headers, service, undoBody }: RawCase, call: string): RawCase => ({
  says: call,
  call,
  as,
  ...(headers ? { headers } : {}),
  ...(service === undefined ? {} : { service }),
  ...(undoBody === undefined ? {} : { body: undoBody }),
});

/** What was made without a word of how it goes, as by a request that was to be refused and is not. */
function undoOf({ call, keep }: RawCase, { body }: Answer): string | undefined {
  const [method, path = ""] = call.split(" ");
  if (method !== "POST" || keep !== undefined || /[?]|action|^\^|\/detail/.test(path) || !isRecord(body))
    return undefined;
  const made = typeof body["id"] === "string" ? body : Object.values(body)[0];
  return isRecord(made) && typeof made["id"] === "string" ? `DELETE ${path}/${made["id"]}` : undefined;
}

export const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value ?? ""));

interface Stage {
  readonly group: RawGroup;
  readonly sessions: Readonly<Record<Account, Session>>;
  readonly values: ReadonlyMap<string, string>;
}

async function ask(each: RawCase, stage: Stage): Promise<Answer> {
  for (const end = Date.now() + TIMEOUT; ;) {
    const answer = await send(requestOf(each, stage));
    if (each.until === undefined || Date.now() > end) return answer;
    const now = answer.status === 404 ? "gone" : textOf(at(answer.body, each.until.field));
    if (each.until.is.includes(now)) return answer;
    await sleep(PAUSE);
  }
}

/** Repeats a deletion while it is refused because something is still on its way. */
async function undone(each: RawCase, stage: Stage): Promise<void> {
  for (const end = Date.now() + TIMEOUT; Date.now() < end;) {
    const { status } = await send(requestOf(each, stage));
    if (status < 400 || status === 400 || status === 404) return;
    await sleep(PAUSE);
  }
}

function requestOf(each: RawCase, { group, sessions, values }: Stage): Request {
  const session = sessions[each.as ?? "member"];
  const [method = "GET", path = ""] = filled(each.call, values).split(" ");
  const endpoint = (session.endpoint(each.service ?? group.service) ?? "").replace(/\/$/, "");
  const isWhole = path.startsWith(`${rootOf(endpoint)}/`);
  const url = isWhole ? path : path.startsWith("^") ? rootOf(endpoint) + path.slice(1) : endpoint + path;
  const own = Object.entries(each.headers ?? {}).map(([name, value]) => [name, filled(value, values)]);
  const headers: Record<string, string> = { "x-auth-token": session.token, ...Object.fromEntries(own) };
  if (headers["x-auth-token"] === "none") delete headers["x-auth-token"];
  const body =
    each.body === undefined ? undefined : typeof each.body === "string" ? each.body : filledBody(each.body, values);
  return { method, url, headers, body };
}

/** Where a service's versions are: its endpoint without version and project. */
const rootOf = (endpoint: string): string => endpoint.replace(/\/v\d[^/]*(\/[0-9a-f]{32})?$/, "");

function filled(text: string, values: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\{(\w+)\}/g, (all, name: string) => values.get(name) ?? all);
}

function filledBody(body: unknown, values: ReadonlyMap<string, string>): unknown {
  if (typeof body === "string") return filled(body, values);
  if (Array.isArray(body)) return body.map((item) => filledBody(item, values));
  if (!isRecord(body)) return body;
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [filled(key, values), filledBody(value, values)]),
  );
}

/** What differs from run to run and from cloud to cloud, and what it is called instead. */
function wordsOf(group: RawGroup, sessions: Stage["sessions"], run: string): readonly (readonly [string, string])[] {
  const root = rootOf((sessions.member.endpoint(group.service) ?? "").replace(/\/$/, ""));
  const identity = rootOf((sessions.member.endpoint("identity") ?? "").replace(/\/$/, ""));
  return [
    [run, "RUN"],
    [root, "ROOT"],
    [identity, "IDENTITY"],
    [sessions.member.projectId, "PROJECT"],
    [sessions.member.userId, "USER"],
    // Magnum's later releases have another name for its type in headers and messages.
    ...(group.service === "container-infra"
      ? [["container-infrastructure-management", "container-infra"] as const]
      : []),
  ];
}

function comparable(each: RawCase, answer: Answer, words: readonly (readonly [string, string])[]): ComparableAnswer {
  const { status, text, body } = answer;
  const headers: Record<string, string> = {};
  for (const name of compared) {
    const value = answer.headers.get(name);
    if (value !== null && !(name === "content-type" && text === ""))
      headers[name] = settled(value, words).replace(/;\s*charset=utf-8/i, "");
  }
  if (each.statusOnly === true) return { status, headers: {}, body: "" };
  if (status >= 400 || typeof body === "string") return { status, headers, body: refusal(body, words) };
  const exact = (each.exact ?? []).map(
    (path) => [path, JSON.parse(settled(JSON.stringify(at(body, path) ?? null), words)) as unknown] as const,
  );
  const shape = shapeOf(withoutTypes(body, each.untyped ?? []));
  return { status, headers, body: exact.length === 0 ? shape : { shape, exact: Object.fromEntries(exact) } };
}

/** The body with the same value in fields whose types are not compared. */
function withoutTypes(body: unknown, fields: readonly string[]): unknown {
  if (fields.length === 0) return body;
  return JSON.parse(JSON.stringify(body), (key, value: unknown) => (fields.includes(key) ? null : value)) as unknown;
}

function refusal(body: unknown, words: readonly (readonly [string, string])[]): unknown {
  if (typeof body === "string") return settled(body, words).replaceAll(/\s+/g, " ").trim();
  return JSON.parse(settled(JSON.stringify(body), words)) as unknown;
}
