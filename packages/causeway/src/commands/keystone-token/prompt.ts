import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

type Variables = Readonly<Record<string, string | undefined>>;

/** Where a person answers. */
export interface Terminal {
  ask(question: string): Promise<string>;
  /** Without showing the answer. */
  askHidden(question: string): Promise<string>;
}

interface Question {
  readonly variable: string;
  /** Upstream's words. */
  readonly words: string;
  /** Variables that give the same. */
  readonly others: readonly string[];
}

const URL_QUESTION: Question = { variable: "OS_AUTH_URL", words: "Keystone Auth URL", others: [] };
/** In upstream's order. */
const questions: readonly Question[] = [
  URL_QUESTION,
  {
    variable: "OS_DOMAIN_NAME",
    words: "domain name",
    others: ["OS_DOMAIN_ID", "OS_USER_DOMAIN_NAME", "OS_USER_DOMAIN_ID", "OS_DEFAULT_DOMAIN", "OS_USER_ID"],
  },
  { variable: "OS_USERNAME", words: "user name", others: ["OS_USER_ID"] },
  {
    variable: "OS_PROJECT_NAME",
    words: "project name",
    others: ["OS_PROJECT_ID", "OS_TENANT_NAME", "OS_TENANT_ID"],
  },
  { variable: "OS_PASSWORD", words: "password", others: [] },
];

/**
 * What credentials by these variables lack: of a password all of its parts, of others the address of Keystone. Pure.
 */
export function missingVariables(variables: Variables): readonly { variable: string; words: string }[] {
  const has = (name: string): boolean => (variables[name] ?? "") !== "";
  const type = variables["OS_AUTH_TYPE"] ?? "";
  const isPassword =
    !has("OS_APPLICATION_CREDENTIAL_SECRET") && !has("OS_TOKEN") && ["", "password", "v3password"].includes(type);
  return (isPassword ? questions : [URL_QUESTION])
    .filter(({ variable, others }) => ![variable, ...others].some(has))
    .map(({ variable, words }) => ({ variable, words }));
}

/** Asks for what is missing, one after the other. */
export async function askMissing(variables: Variables, terminal: Terminal): Promise<Record<string, string>> {
  const answers: Record<string, string> = {};
  for (const { variable, words } of missingVariables(variables)) {
    const question = `Please enter ${words}: `;
    const hidden = variable === "OS_PASSWORD";
    answers[variable] = hidden ? await terminal.askHidden(question) : (await terminal.ask(question)).trim();
  }
  return answers;
}

/**
 * This process's terminal; undefined: it has none, or kubectl says (KUBERNETES_EXEC_INFO) that
 * a person must not be prompted.
 */
export function ownTerminal(execInfo: string | undefined): Terminal | undefined {
  if (process.stdin.isTTY !== true || isForbidden(execInfo)) return undefined;
  return { ask: (question) => answered(question, false), askHidden: (question) => answered(question, true) };
}

function isForbidden(execInfo: string | undefined): boolean {
  try {
    const info = JSON.parse(execInfo ?? "null") as { spec?: { interactive?: unknown } } | null;
    return info?.spec?.interactive === false;
  } catch {
    // The credential that is to be printed says what is wrong with it.
    return true;
  }
}

/** On standard error: standard output has the credential. */
async function answered(question: string, hidden: boolean): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: hidden ? nowhere : process.stderr, terminal: true });
  const stopping = new AbortController();
  reader.once("SIGINT", () => stopping.abort());
  reader.once("close", () => stopping.abort());
  try {
    if (hidden) process.stderr.write(question);
    return await reader.question(hidden ? "" : question, { signal: stopping.signal });
  } finally {
    if (hidden) process.stderr.write("\n");
    reader.close();
  }
}
