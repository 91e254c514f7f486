/** The stock openstack client of the images, next to a container: it looks up names as pods do. */
import { podsOf, NAME } from "./cloud.ts";
import type { Rig } from "./rig.ts";

export interface Account {
  readonly user: string;
  readonly project: string;
  readonly password: string;
}

/** The administrator, with the password that the operator made. */
export function administrator(rig: Rig): Account {
  const { data } = rig.get<{ data: Record<string, string> }>("secret", `${NAME}-credentials`);
  return { user: "admin", project: "admin", password: Buffer.from(data["keystone.admin"] ?? "", "base64").toString() };
}

/** Where Keystone is, for programs that look up names of the cluster. */
export const KEYSTONE = `http://${NAME}-keystone-api.default.svc:5000/v3`;

export interface Client {
  /** Runs `openstack WORDS…`; what it printed. */
  run(...words: readonly string[]): Promise<string>;
  /** The same, read from JSON. */
  ask<T>(...words: readonly string[]): Promise<T>;
  /** Writes a file where the client reads it. */
  write(path: string, text: string): Promise<void>;
}

/** `outside`: a container of a pod that is not the deployment's, where its policies are enforced. */
export function clientOf(
  rig: Rig,
  { user, project, password }: Account,
  outside?: { readonly pod: string; readonly container: string },
): Client {
  const settings = {
    HOME: "/tmp",
    OS_AUTH_URL: KEYSTONE,
    OS_IDENTITY_API_VERSION: "3",
    OS_INTERFACE: "internal",
    OS_REGION_NAME: "RegionOne",
    OS_USERNAME: user,
    OS_PASSWORD: password,
    OS_PROJECT_NAME: project,
    OS_USER_DOMAIN_NAME: "Default",
    OS_PROJECT_DOMAIN_NAME: "Default",
  };
  const alongside = async (command: readonly string[], input?: string): Promise<string> => {
    const places = outside ? [outside] : podsOf(rig, "keystone-api").map((pod) => ({ pod, container: "keystone-api" }));
    for (const machine of rig.machines)
      for (const { pod, container } of places) {
        const found = await machine.container(pod, container);
        if (found) return machine.runBeside(found, command, input);
      }
    throw new Error("no container for the client runs");
  };
  const env = ["env", ...Object.entries(settings).map(([name, value]) => `${name}=${value}`), "openstack"];
  const run = (...words: readonly string[]) => alongside([...env, ...words]);
  return {
    run,
    ask: async (...words) => JSON.parse(await run(...words, "-f", "json")),
    async write(path, text) {
      await alongside(["sh", "-c", 'cat > "$0"', path], text);
    },
  };
}
