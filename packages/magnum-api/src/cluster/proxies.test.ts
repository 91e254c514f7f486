import { describe, expect, it } from "vitest";
import { made as nodesMade } from "../testing/nodes.ts";
import { isProxy, isProxyBypass } from "./proxies.ts";

const made = (
  template: Parameters<typeof nodesMade>[0],
  spec: Parameters<typeof nodesMade>[1] = { nodeProxies: true },
) => nodesMade(template, spec);

describe("proxies of a template", () => {
  it("are what containerd of the nodes is started with, before they join, and the cluster is reached without them", () => {
    const { files = [], preKubeadmCommands } = made({
      httpProxy: "http://proxy.example.com:3128",
      httpsProxy: "http://user:p%40ss@[2001:db8::1]:3128/",
      noProxy: "10.9.0.0/16, registry.example.com",
    });
    expect(files.map(({ path }) => path)).toEqual(["/etc/systemd/system/containerd.service.d/http-proxy.conf"]);
    const bypass =
      "localhost,127.0.0.1,::1,.svc,.cluster.local,10.0.0.0/24,10.100.0.0/16,10.254.0.0/16,10.9.0.0/16,registry.example.com";
    expect(files[0]?.content?.split("\n")).toEqual([
      "[Service]",
      'Environment="HTTP_PROXY=http://proxy.example.com:3128"',
      'Environment="HTTPS_PROXY=http://user:p%%40ss@[2001:db8::1]:3128/"',
      `Environment="NO_PROXY=${bypass}"`,
      "",
    ]);
    expect(preKubeadmCommands).toEqual(["systemctl daemon-reload && systemctl try-restart containerd"]);
  });

  it("replace no node of a cluster from before, nor of one without them", () => {
    const before = made({}, {});
    expect(before).not.toHaveProperty("files");
    expect(made({ httpProxy: "http://proxy:3128" }, {})).toEqual(before);
    expect(made({})).toEqual(before);
    expect(made({ noProxy: "10.9.0.0/16" })).toEqual(before);
    expect(made({ httpProxy: "http://proxy:3128" }).name).not.toBe(before.name);
  });

  it.each(['http://p"\nExecStart=/bin/sh', "http://p\\", "http://p q", "socks5://p", "http://p:3128/a", ""])(
    "are nothing but addresses: %j reaches no file",
    (httpProxy) => {
      expect(isProxy(httpProxy)).toBe(false);
      expect(made({ httpProxy })).not.toHaveProperty("files");
    },
  );

  it("leave out a list of exceptions that has anything else", () => {
    expect(isProxyBypass('a"\nb')).toBe(false);
    expect(made({ httpProxy: "p:1", noProxy: 'a"\nb' }).files?.[0]?.content).not.toContain("\nb");
  });

  it("are checked in time that grows with their length", () => {
    const begun = performance.now();
    expect(isProxy(`http://${"a:".repeat(100_000)}`)).toBe(false);
    expect(isProxyBypass(`${"a,".repeat(100_000)}"`)).toBe(false);
    expect(performance.now() - begun).toBeLessThan(2_000);
  });
});
