import { expect } from "vitest";
import { gizmos } from "./applying.ts";
import type { KubectlCase } from "./kubectl.ts";
import { configMap, deployment, gizmo, pod } from "./objects.ts";

const stdin = ["-f", "-"] as const;

export const reading: readonly KubectlCase[] = [
  {
    name: "version, cluster-info, api-versions and api-resources",
    run: async (k) => {
      const group = await gizmos(k);
      expect(await k.run("version", "-o", "json")).toMatch(/"serverVersion": \{[^}]*"gitVersion": "v1\.34\.\d+"/);
      expect(await k.run("cluster-info")).toMatch(/Kubernetes control plane.* is running at.*https:\/\//);
      const versions = (await k.run("api-versions")).split("\n");
      for (const version of ["v1", "apps/v1", "rbac.authorization.k8s.io/v1", `${group}/v1`])
        expect(versions).toContain(version);
      const resources = await k.run("api-resources", "-o", "wide");
      expect(resources).toMatch(/^NAME +SHORTNAMES +APIVERSION +NAMESPACED +KIND +VERBS +CATEGORIES/);
      expect(resources).toMatch(/^deployments +deploy +apps\/v1 +true +Deployment +\S*create\S* +all/m);
      expect(resources).toMatch(new RegExp(`^gizmos +giz +${group}/v1 +true +Gizmo +\\S+ +all`, "m"));
      expect(await k.run("api-resources", "--api-group=apps", "--verbs=watch", "-o", "name")).toContain(
        "daemonsets.apps",
      );
    },
  },
  {
    name: "get all -A, several kinds at once, --show-labels, -o wide, --sort-by and custom columns",
    run: async (k) => {
      const group = await gizmos(k);
      await k.feed(deployment("web"), "create", ...stdin);
      await k.feed(gizmo(group, "a", { color: "blue", size: 7 }), "create", ...stdin);
      const all = await k.run("get", "all", "-A");
      expect(all).toMatch(/^default +service\/kubernetes +ClusterIP +10\.96\.0\.1 +<none> +443\/TCP/m);
      expect(all).toMatch(new RegExp(`^${k.namespace} +deployment\\.apps/web +0/1`, "m"));
      expect(all).toMatch(new RegExp(`^${k.namespace} +gizmo\\.${group}/a +blue`, "m"));
      expect(await k.run("get", "deploy,giz", "--show-labels")).toMatch(/web +0\/1 .* app=web/);
      expect(await k.run("get", "gizmo")).toMatch(/^NAME +COLOR\na +blue\n$/);
      expect(await k.run("get", "gizmo", "-o", "wide")).toMatch(/^NAME +COLOR +SIZE\na +blue +7\n$/);
      await k.feed(gizmo(group, "b", { color: "red", size: 2 }), "create", ...stdin);
      expect(await k.run("get", "gizmo", "--sort-by=.spec.size", "-o", "name")).toBe(
        `gizmo.${group}/b\ngizmo.${group}/a\n`,
      );
      expect(await k.run("get", "gizmo", "--no-headers", "-o", "custom-columns=N:.metadata.name,S:.spec.size")).toBe(
        "a     7\nb     2\n",
      );
    },
  },
  {
    name: "get: by label, by field, in chunks, by path and template, raw, and what is not there",
    run: async (k) => {
      for (const name of ["a", "b", "c"])
        await k.feed(configMap(name, { x: name }, { labels: { name } }), "create", ...stdin);
      expect(await k.run("get", "cm", "-l", "name in (a,b)", "-o", "name")).toBe("configmap/a\nconfigmap/b\n");
      expect(await k.run("get", "cm", "-l", "name,name!=a", "-o", "name")).toBe("configmap/b\nconfigmap/c\n");
      expect(await k.run("get", "cm", "--field-selector=metadata.name=b", "-o", "name")).toBe("configmap/b\n");
      const chunks = await k.run("get", "cm", "-l", "name", "--chunk-size=1", "-o", "jsonpath={.items[*].data.x}");
      expect(chunks).toBe("a b c");
      expect(await k.run("get", "cm", "a", "-o", "go-template={{.data.x}}")).toBe("a");
      const raw = await k.run("get", "--raw", `/api/v1/namespaces/${k.namespace}/configmaps/a`);
      expect(JSON.parse(raw)).toMatchObject({ kind: "ConfigMap", data: { x: "a" } });
      expect(await k.fails("get", "cm", "z")).toContain('Error from server (NotFound): configmaps "z" not found');
      expect(await k.run("get", "cm", "z", "--ignore-not-found")).toBe("");
      expect(await k.fails("get", "nothings")).toContain(`the server doesn't have a resource type "nothings"`);
      expect(await k.fails("get", "pods", "--field-selector=spec.nothing=1")).toContain("field label not supported");
    },
  },
  {
    name: "get -w: rows as they come, and --output-watch-events",
    run: async (k) => {
      await k.feed(deployment("web"), "create", ...stdin);
      const watching = k.start("get", "deploy", "-w", "--output-watch-events");
      await watching.until(/^ADDED +web +0\/1/m);
      await k.run("scale", "deploy", "web", "--replicas=2");
      await watching.until(/^MODIFIED +web +0\/2/m);
      await k.run("delete", "deploy", "web");
      await watching.until(/^DELETED +web/m);
      await watching.stop();
      expect(watching.output()).toMatch(/^EVENT +NAME +READY +UP-TO-DATE +AVAILABLE +AGE/);
    },
  },
  {
    name: "explain: a built-in kind, a custom one, a field, and --recursive",
    run: async (k) => {
      const group = await gizmos(k);
      const kind = await eventually(() => k.run("explain", "gizmo"));
      expect(kind).toMatch(/^KIND: +Gizmo$/m);
      expect(kind).toContain("spec");
      const field = await k.run("explain", "gizmo.spec.color");
      expect(field).toContain("The color.");
      const whole = await k.run("explain", "gizmos", "--recursive", `--api-version=${group}/v1`);
      expect(whole).toMatch(/parts\s+<\[\]Object>\n\s+name\s+<string>\n\s+weight\s+<integer>/);
      const builtIn = await k.run("explain", "deployment.spec.template.spec.containers", "--recursive");
      expect(builtIn).toMatch(/livenessProbe\s+<Probe>\n\s+exec\s+<ExecAction>\n\s+command\s+<\[\]string>/);
      expect(await k.run("explain", "pods.spec.containers.image")).toMatch(/FIELD: +image/);
      expect(await k.fails("explain", "pods.spec.nothing")).toContain('field "nothing" does not exist');
    },
  },
  {
    name: "describe: a Pod, a Deployment, a Service, a Secret, a custom resource, with their events",
    run: async (k) => {
      const group = await gizmos(k);
      await k.feed(pod("p"), "create", ...stdin);
      await k.feed(deployment("web"), "create", ...stdin);
      await k.feed(gizmo(group, "a"), "create", ...stdin);
      await k.run("create", "secret", "generic", "s", "--from-literal=password=hidden");
      await k.run("expose", "deploy", "web", "--port=80");
      const uid = await k.run("get", "pod", "p", "-o", "jsonpath={.metadata.uid}");
      const event = {
        apiVersion: "v1",
        kind: "Event",
        metadata: { name: "e", namespace: k.namespace },
        involvedObject: { apiVersion: "v1", kind: "Pod", name: "p", namespace: k.namespace, uid },
        reason: "Tried",
        message: "it was tried",
        type: "Normal",
        source: { component: "test" },
        firstTimestamp: new Date().toISOString().replace(/\.\d+/, ""),
        lastTimestamp: new Date().toISOString().replace(/\.\d+/, ""),
        count: 1,
      };
      await k.feed(event, "create", ...stdin);
      expect(await k.run("describe", "pod", "p")).toMatch(/Events:\n[\s\S]*Normal +Tried +\S+ +test +it was tried/);
      expect(await k.run("describe", "deploy", "web")).toMatch(/Replicas: +1 desired \| 0 updated/);
      expect(await k.run("describe", "svc", "web")).toMatch(/Type: +ClusterIP[\s\S]*TargetPort: +80\/TCP/);
      expect(await k.run("describe", "secret", "s")).toMatch(/password: +6 bytes/);
      expect(await k.run("describe", "gizmo", "a")).toMatch(/Kind: +Gizmo[\s\S]*Spec:\n +Color: +red/);
      expect(await k.run("describe", "ns", k.namespace)).toMatch(/Status: +Active/);
      expect(await k.run("describe", "nodes")).toBe("");
      expect(await k.run("events", "--for=pod/p")).toMatch(/Normal +Tried +Pod\/p +it was tried/);
      expect(await k.run("get", "events", "--field-selector=reason=Tried")).toMatch(/Tried +pod\/p +it was tried/);
    },
  },
];

async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + 15_000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((done) => setTimeout(done, 200));
    }
  }
}
