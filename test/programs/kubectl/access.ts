import { createRequest } from "@causeway/foundation";
import { expect } from "vitest";
import type { Kubectl, KubectlCase } from "./kubectl.ts";

const stdin = ["-f", "-"] as const;

/** A request for the certificate of `jane`. */
async function request(k: Kubectl, name: string): Promise<string> {
  const full = `${k.namespace}-${name}`;
  const made = await createRequest({ commonName: "jane", organizations: ["readers"] });
  const spec = {
    request: Buffer.from(made.request).toString("base64"),
    signerName: "kubernetes.io/kube-apiserver-client",
    usages: ["client auth"],
  };
  const apiVersion = "certificates.k8s.io/v1";
  await k.feed({ apiVersion, kind: "CertificateSigningRequest", metadata: { name: full }, spec }, "create", ...stdin);
  return full;
}

export const access: readonly KubectlCase[] = [
  {
    name: "auth can-i and --list, as others, by roles that kubectl makes; auth reconcile",
    run: async (k) => {
      expect(await k.run("auth", "can-i", "create", "pods")).toBe("yes\n");
      const jane = ["--as=jane", "--as-group=readers"] as const;
      expect(await k.fails("auth", "can-i", "list", "pods", ...jane)).toContain("no\n");
      await k.run("create", "role", "reader", "--verb=get,list", "--resource=pods,deployments.apps");
      await k.run("create", "rolebinding", "readers", "--role=reader", "--group=readers");
      expect(await k.run("auth", "can-i", "list", "deployments.apps", ...jane)).toBe("yes\n");
      expect(await k.run("auth", "can-i", "--list", ...jane)).toMatch(/pods +\[\] +\[\] +\[get list\]/);
      expect(await k.run("get", "pods", ...jane)).toBe("");
      expect(await k.fails("get", "secrets", ...jane)).toContain('User "jane" cannot list resource "secrets"');
      const role = {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "Role",
        metadata: { name: "reader", namespace: k.namespace },
        rules: [{ apiGroups: [""], resources: ["services"], verbs: ["get"] }],
      };
      expect(await k.feed(role, "auth", "reconcile", ...stdin)).toContain("reconciled");
      expect(await k.run("auth", "can-i", "get", "services", ...jane)).toBe("yes\n");
      expect(await k.run("auth", "can-i", "list", "pods", ...jane)).toBe("yes\n");
    },
  },
  {
    name: "auth whoami, and config use-context of another user",
    since: 28,
    run: async (k) => {
      expect(await k.run("auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")).toBe("admin");
      const as = await k.run("auth", "whoami", "--as=jane", "-o", "jsonpath={.status.userInfo}");
      expect(JSON.parse(as)).toMatchObject({ username: "jane", groups: ["system:authenticated"] });
      const token = (await k.run("create", "token", "default")).trim();
      await k.run("config", "set-credentials", `bot-${k.minor}`, `--token=${token}`);
      await k.run("config", "set-context", `bot-${k.minor}`, "--cluster=tried", `--user=bot-${k.minor}`);
      const bot = await k.run(
        "auth",
        "whoami",
        `--context=bot-${k.minor}`,
        "-o",
        "jsonpath={.status.userInfo.username}",
      );
      expect(bot).toBe(`system:serviceaccount:${k.namespace}:default`);
      await k.run("config", "use-context", `bot-${k.minor}`);
      expect(await k.fails("get", "pods")).toContain("forbidden");
      await k.run("config", "use-context", "admin@tried");
      expect(await k.run("get", "pods")).toBe("");
    },
  },
  {
    name: "create token: for an audience and a time",
    run: async (k) => {
      const token = await k.run("create", "token", "default", "--audience=vault", "--duration=20m");
      const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as Record<
        string,
        unknown
      >;
      expect(claims).toMatchObject({ aud: ["vault"], sub: `system:serviceaccount:${k.namespace}:default` });
      expect(Number(claims["exp"]) - Number(claims["iat"])).toBe(1200);
      expect(await k.fails("create", "token", "absent")).toContain('serviceaccounts "absent" not found');
    },
  },
  {
    name: "certificate: approved and denied",
    run: async (k) => {
      const denied = await request(k, "denied");
      expect(await k.run("certificate", "deny", denied)).toContain("denied");
      expect(await k.run("get", "csr", denied)).toMatch(/kubernetes\.io\/kube-apiserver-client +admin +<none> +Denied/);
      const approved = await request(k, "approved");
      expect(await k.run("certificate", "approve", approved)).toContain("approved");
      expect(await k.run("get", "csr", approved)).toMatch(/ Approved/);
    },
  },
  {
    name: "certificate: issued after approval, and good for a kubeconfig",
    controllers: true,
    run: async (k) => {
      const name = await request(k, "issued");
      await k.run("certificate", "approve", name);
      await k.run("wait", `csr/${name}`, "--for=jsonpath={.status.certificate}", "--timeout=20s").catch(async () => {
        // Before 1.31 a path needs a value to wait for.
        await new Promise((done) => setTimeout(done, 1000));
      });
      const certificate = await k.run("get", "csr", name, "-o", "jsonpath={.status.certificate}");
      expect(Buffer.from(certificate, "base64").toString()).toContain("BEGIN CERTIFICATE");
      expect(await k.run("get", "csr", name)).toMatch(/Approved,Issued/);
    },
  },
];
