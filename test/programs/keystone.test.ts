/**
 * A stock kubectl with `causeway keystone-token`, on our server and a real kube-apiserver that ask `causeway run
 * keystone-auth`.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { startKubeApiserver } from "../contracts/kubernetes/kube-apiserver.ts";
import { Stage } from "./keystone/stage.ts";
import { programs } from "./programs.ts";
import { execute, launch, type Ended, type RunningProgram } from "./run.ts";
import { administrator, kubeconfigOf } from "./servers.ts";

const POLICY = JSON.stringify([
  {
    users: { projects: ["demo"], roles: ["member"] },
    resource_permissions: { "default/configmaps": ["get", "list", "create"] },
  },
]);

interface Subject {
  readonly url: string;
  readonly ca: string;
  /** A kubeconfig of its administrator. */
  readonly administrator: string;
  /** Whether it asks the webhook for authorization, too; ours has RBAC alone. */
  readonly authorizes: boolean;
  close(): Promise<void>;
}

const subjects: Readonly<Record<string, (kubeconfig: string) => Promise<Subject>>> = {
  async causeway(kubeconfigFile) {
    const server = await startApiServer({
      management: { authentication: { webhook: { kubeconfigFile, cacheTtl: 1 } } },
    });
    const { url, authority } = server.management;
    const close = (): Promise<void> => server.close();
    return {
      url,
      ca: authority.certificate,
      administrator: await server.management.kubeconfig(),
      authorizes: false,
      close,
    };
  },
  async "kube-apiserver"(kubeconfig) {
    const token = [
      `--authentication-token-webhook-config-file=${kubeconfig}`,
      "--authentication-token-webhook-version=v1",
    ];
    const access = [
      `--authorization-webhook-config-file=${kubeconfig}`,
      "--authorization-webhook-version=v1",
      "--authorization-mode=Webhook",
    ];
    const caches = ["--authentication-token-webhook-cache-ttl=1s"];
    const server = await startKubeApiserver({ flags: [...token, ...access, ...caches] });
    return {
      url: server.url,
      ca: server.ca,
      administrator: await administrator(server),
      authorizes: true,
      close: () => server.close(),
    };
  },
};

describe.each(Object.keys(subjects))("kubectl with a Keystone token on %s", (name) => {
  const { kubernetes, kubectls } = programs();
  const [kubectl = ""] = kubectls;
  if ("reason" in kubernetes || kubectl === "") {
    test.skip("kubectl (it or kube-apiserver could not be built)");
    return;
  }
  let stage: Stage;
  let webhook: RunningProgram;
  let subject: Subject;

  beforeAll(async () => {
    stage = await Stage.start();
    const started = await stage.webhook(
      "--keystone-policy-file",
      stage.write("policy.json", POLICY),
      "--token-recheck",
      "1s",
    );
    webhook = started.running;
    const start = subjects[name];
    if (start === undefined) throw new Error(`no server ${name}`);
    subject = await start(started.kubeconfig);
    stage.write("admin.kubeconfig", subject.administrator);
    if (!subject.authorizes)
      await asAdministrator("create", "rolebinding", "demo", "-n", "default", "--clusterrole=edit", "--user=demo");
  });
  afterAll(async () => {
    await subject?.close();
    await stage?.close();
  });

  const asAdministrator = (...args: string[]): Promise<Ended> =>
    execute(kubectl, ["--kubeconfig", join(stage.dir, "admin.kubeconfig"), ...args]);

  /** kubectl as a user of the cloud; the environment has OS_ variables in place of --cloud. */
  function as(
    cloud: string | undefined,
    version: string,
    env: Record<string, string>,
    ...args: string[]
  ): Promise<Ended> {
    const { command, args: main } = stage.command;
    const flags = cloud === undefined ? [] : ["--cloud", cloud];
    const exec = {
      apiVersion: `client.authentication.k8s.io/${version}`,
      command,
      args: [...main, "keystone-token", ...flags],
      env: [
        { name: "OS_CLIENT_CONFIG_FILE", value: join(stage.dir, "clouds.yaml") },
        { name: "XDG_CACHE_HOME", value: join(stage.dir, "cache") },
        ...Object.entries(env).map(([key, value]) => ({ name: key, value })),
      ],
      interactiveMode: "Never",
    };
    const config = JSON.parse(kubeconfigOf(subject, {})) as { users: { user: object }[] };
    if (config.users[0]) config.users[0].user = { exec };
    return execute(kubectl, ["--kubeconfig", stage.write("user.kubeconfig", JSON.stringify(config)), ...args]);
  }

  test.each(["v1", "v1beta1"])("works with the credential plugin at %s", async (version) => {
    const created = await as("simulator", version, {}, "create", "configmap", `by-${version}`, "-n", "default");
    expect(created).toMatchObject({ code: 0, stdout: `configmap/by-${version} created\n` });
    expect((await as("simulator", version, {}, "get", "configmaps", "-n", "default")).stdout).toContain(
      `by-${version}`,
    );
    expect((await as("simulator", version, {}, "auth", "whoami", "-o", "json")).stdout).toContain(
      "alpha.kubernetes.io/identity/project/id",
    );
  });

  test("is refused what no policy and no role allows, also with a token of another project", async () => {
    const nodes = await as("simulator", "v1", {}, "get", "nodes");
    expect(nodes.code).toBe(1);
    expect(nodes.stderr).toContain("Forbidden");
    const other = await as("simulator-alt", "v1", {}, "get", "configmaps", "-n", "default");
    expect(other.stderr).toContain("Forbidden");
  });

  test("works with an application credential from OS_ variables, until it is deleted", async () => {
    const cloud = stage.cloud();
    const credentials = cloud.identity.applicationCredentials(await cloud.identity.currentUserId());
    const made = await credentials.create({ name: `kubectl-${name}` });
    const env = {
      OS_AUTH_URL: stage.simulator.authUrl,
      OS_APPLICATION_CREDENTIAL_ID: made.id,
      OS_APPLICATION_CREDENTIAL_SECRET: made.secret ?? "",
    };
    expect((await as(undefined, "v1", env, "get", "configmaps", "-n", "default")).code).toBe(0);
    await credentials.delete(made.id);
    await cloud.close();
    await expect
      .poll(async () => (await as(undefined, "v1", env, "get", "configmaps", "-n", "default")).code, {
        timeout: 60_000,
        interval: 2_000,
      })
      .toBe(1);
  });

  test.skipIf(spawnSync("script", ["--version"]).status !== 0)(
    "asks on a terminal for what is missing, without showing the password",
    async () => {
      const { command, args } = stage.command;
      const password = /password: (\S+)/.exec(stage.simulator.cloudsYaml)?.[1] ?? "";
      const env = { OS_AUTH_URL: stage.simulator.authUrl, XDG_CACHE_HOME: join(stage.dir, "requested") };
      const plugin = launch("script", ["-qec", [command, ...args, "keystone-token"].join(" "), "/dev/null"], { env });
      for (const [question, answer] of [
        [/domain name: /, "Default"],
        [/user name: /, "demo"],
        [/project name: /, "demo"],
        [/password: /, password],
      ] as const) {
        await plugin.until(question);
        plugin.write(`${answer}\r`);
      }
      const { code, stdout } = await plugin.ended;
      expect(code).toBe(0);
      expect(stdout).toMatch(/"token":"gAAAAA/);
      expect(stdout).not.toContain(password);
    },
  );

  test("fails with the reason for a password that Keystone refuses", async () => {
    const env = {
      OS_AUTH_URL: stage.simulator.authUrl,
      OS_USERNAME: "demo",
      OS_PASSWORD: "wrong",
      OS_PROJECT_NAME: "demo",
      OS_DOMAIN_NAME: "Default",
    };
    const ended = await as(undefined, "v1", env, "get", "configmaps");
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain("OPENSTACK_UNAUTHORIZED");
  });

  test("is refused with garbage, and no token is in the webhook's log", async () => {
    const config = kubeconfigOf(subject, { token: `gAAAAAB${"x".repeat(180)}` });
    const ended = await execute(kubectl, [
      "--kubeconfig",
      stage.write("garbage.kubeconfig", config),
      "get",
      "configmaps",
    ]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/Unauthorized|must be logged in/);
    expect(webhook.output()).toContain("a token was refused");
    expect(webhook.output()).not.toMatch(/gAAAAA/);
  });
});
