import { expect } from "vitest";
import { gizmos } from "./applying.ts";
import type { KubectlCase } from "./kubectl.ts";
import { configMap, deployment, gizmo, pod } from "./objects.ts";

const stdin = ["-f", "-"] as const;

export const working: readonly KubectlCase[] = [
  {
    name: "wait: for a condition, a path, and the end of an object; and in vain",
    run: async (k) => {
      const group = await gizmos(k);
      await k.feed(gizmo(group, "a"), "create", ...stdin);
      const waiting = k.start("wait", "gizmo/a", "--for=jsonpath={.status.phase}=Done", "--timeout=30s");
      const patch = '{"status":{"phase":"Done"}}';
      await k.run("patch", "gizmo", "a", "--subresource=status", "--type=merge", "-p", patch);
      expect((await waiting.ended).stdout).toBe(`gizmo.${group}/a condition met\n`);
      const going = k.start("wait", "gizmo/a", "--for=delete", "--timeout=30s");
      await k.run("delete", "gizmo", "a");
      expect((await going.ended).code).toBe(0);
      await k.feed(deployment("web"), "create", ...stdin);
      const vain = await k.fails("wait", "deploy/web", "--for=condition=Available", "--timeout=1s");
      expect(vain).toContain("timed out waiting for the condition on deployments/web");
    },
  },
  {
    name: "scale: a Deployment and a custom resource, on a condition",
    run: async (k) => {
      const group = await gizmos(k);
      await k.feed(deployment("web"), "create", ...stdin);
      await k.feed(gizmo(group, "a"), "create", ...stdin);
      expect(await k.run("scale", "deploy/web", "--replicas=3")).toBe("deployment.apps/web scaled\n");
      expect(await k.run("scale", "gizmo/a", "--replicas=4")).toBe(`gizmo.${group}/a scaled\n`);
      expect(await k.run("get", "gizmo", "a", "-o", "jsonpath={.spec.size}")).toBe("4");
      expect(await k.fails("scale", "deploy/web", "--current-replicas=1", "--replicas=2")).toContain("3");
      expect(await k.fails("scale", "gizmo/a", "--replicas=12")).toContain("should be less than or equal to 9");
    },
  },
  {
    name: "rollout: restart, pause, resume, status",
    run: async (k) => {
      await k.feed(deployment("web"), "create", ...stdin);
      expect(await k.run("rollout", "restart", "deploy/web")).toBe("deployment.apps/web restarted\n");
      expect(await k.run("rollout", "pause", "deploy/web")).toBe("deployment.apps/web paused\n");
      expect(await k.fails("rollout", "pause", "deploy/web")).toContain("already paused");
      expect(await k.run("rollout", "resume", "deploy/web")).toBe("deployment.apps/web resumed\n");
      const waiting = k.start("rollout", "status", "deploy/web", "--timeout=30s");
      await waiting.until(/Waiting for/);
      const generation = Number(await k.run("get", "deploy", "web", "-o", "jsonpath={.metadata.generation}"));
      const counts = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
      const status = JSON.stringify({ status: { observedGeneration: generation, ...counts } });
      await k.run("patch", "deploy", "web", "--subresource=status", "--type=merge", "-p", status);
      expect((await waiting.ended).stdout).toContain('deployment "web" successfully rolled out');
    },
  },
  {
    name: "autoscale, expose, run and create: what generators make is accepted, dry and in earnest",
    run: async (k) => {
      const dry = ["--dry-run=server", "-o", "name"] as const;
      expect(await k.run("run", "p", "--image=i", ...dry)).toBe("pod/p\n");
      expect(await k.run("create", "deployment", "d", "--image=i", "--replicas=2", ...dry)).toBe("deployment.apps/d\n");
      expect(await k.run("create", "job", "j", "--image=i", ...dry)).toBe("job.batch/j\n");
      expect(await k.run("create", "cronjob", "c", "--image=i", "--schedule=1 * * * *", ...dry)).toBe(
        "cronjob.batch/c\n",
      );
      expect(await k.run("create", "cm", "m", "--from-literal=a=b", ...dry)).toBe("configmap/m\n");
      expect(await k.run("create", "secret", "generic", "s", "--from-literal=a=b", ...dry)).toBe("secret/s\n");
      const registry = ["--docker-server=r", "--docker-username=u", "--docker-password=p"];
      expect(await k.run("create", "secret", "docker-registry", "r", ...registry, ...dry)).toBe("secret/r\n");
      expect(await k.run("create", "service", "nodeport", "n", "--tcp=80", ...dry)).toBe("service/n\n");
      expect(await k.run("create", "ingress", "i", "--rule=h/p=s:80", ...dry)).toBe("ingress.networking.k8s.io/i\n");
      expect(await k.run("create", "pdb", "b", "--selector=a=b", "--min-available=1", ...dry)).toContain("/b\n");
      expect(await k.run("create", "priorityclass", k.namespace, "--value=7", ...dry)).toContain(k.namespace);
      expect(await k.run("create", "quota", "q", "--hard=pods=1", ...dry)).toBe("resourcequota/q\n");
      expect(await k.run("create", "sa", "a", ...dry)).toBe("serviceaccount/a\n");
      expect(await k.run("get", "deploy,job,cronjob,svc,pdb,quota", "-o", "name")).toBe("");
      await k.feed(deployment("web"), "create", ...stdin);
      expect(await k.run("expose", "deploy", "web", "--port=80")).toBe("service/web exposed\n");
      expect(await k.run("get", "svc", "web", "-o", "jsonpath={.spec.selector.app}")).toBe("web");
      expect(await k.run("autoscale", "deploy", "web", "--max=3")).toMatch(/autoscaled/);
    },
  },
  {
    name: "delete: by name, label and all; --grace-period=0 --force; a finalizer holds",
    run: async (k) => {
      for (const name of ["a", "b", "c"])
        await k.feed(configMap(name, {}, { labels: { set: name === "c" ? "two" : "one" } }), "create", ...stdin);
      expect(await k.run("delete", "cm", "-l", "set=one")).toMatch(/configmap "a" deleted.*\nconfigmap "b" deleted/);
      expect(await k.run("delete", "cm", "c", "--dry-run=server")).toContain("(server dry run)");
      expect(await k.run("get", "cm", "c", "-o", "name")).toBe("configmap/c\n");
      await k.feed(pod("p"), "create", ...stdin);
      expect(await k.run("delete", "pod", "p", "--grace-period=0", "--force")).toContain("force deleted");
      await k.feed(configMap("held", {}, { finalizers: ["example.com/held"] }), "create", ...stdin);
      const going = k.start("delete", "cm", "held");
      await going.until(/deleted/);
      expect(await k.run("get", "cm", "held", "-o", "jsonpath={.metadata.deletionTimestamp}")).toMatch(/^\d{4}-/);
      await k.run("patch", "cm", "held", "--type=merge", "-p", '{"metadata":{"finalizers":null}}');
      expect((await going.ended).code).toBe(0);
      expect(await k.fails("delete", "cm", "held")).toContain("NotFound");
    },
  },
  {
    name: "delete: foreground, background and orphan, and a namespace to its end",
    controllers: true,
    run: async (k) => {
      const owned = async (name: string) => {
        await k.feed(configMap(name, {}), "create", ...stdin);
        const uid = await k.run("get", "cm", name, "-o", "jsonpath={.metadata.uid}");
        const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name, uid, blockOwnerDeletion: true }];
        await k.feed(configMap(`${name}-owned`, {}, { ownerReferences }), "create", ...stdin);
      };
      for (const name of ["foreground", "background", "orphan"]) {
        await owned(name);
        await k.run("delete", "cm", name, `--cascade=${name}`);
        if (name === "orphan") expect(await k.run("get", "cm", "orphan-owned", "-o", "name")).toContain("orphan-owned");
        else await k.run("wait", `cm/${name}-owned`, "--for=delete", "--timeout=20s");
      }
      const name = `${k.namespace}-more`;
      await k.run("create", "namespace", name);
      await k.run("delete", "namespace", name, "--timeout=30s");
      expect(await k.fails("get", "namespace", name)).toContain("NotFound");
    },
  },
];
