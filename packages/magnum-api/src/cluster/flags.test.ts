import { programFlags } from "@causeway/api";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { flagLabelsOf, labelSettings, refusedLabel, unusedLabels } from "./labels.ts";

type Labels = Record<string, string>;

describe("flags of the control plane's programs", () => {
  it.each<[Labels, unknown]>([
    [{ kubeapi_options: "--event-ttl=30m --v=2" }, { apiServer: { eventTTLSeconds: 1_800 } }],
    [
      { kubeapi_options: "event-ttl=0h30m,tls-min-version=VersionTLS13" },
      { apiServer: { eventTTLSeconds: 1_800, tlsMinVersion: "VersionTLS13" } },
    ],
    [
      {
        kubeapi_options:
          "--enable-admission-plugins=PodNodeSelector,NodeRestriction,AlwaysPullImages --default-not-ready-toleration-seconds=30",
      },
      {
        apiServer: {
          enableAdmissionPlugins: ["AlwaysPullImages", "PodNodeSelector"],
          defaultNotReadyTolerationSeconds: 30,
        },
      },
    ],
    [
      { kubeapi_options: "--service-account-extend-token-expiration=false" },
      { apiServer: { serviceAccountExtendTokenExpiration: false } },
    ],
    [
      { kubecontroller_options: "--node-monitor-grace-period=20s" },
      { controllerManager: { nodeMonitorGracePeriodSeconds: 20 } },
    ],
    // What Magnum's Heat driver set by default, and one more.
    [
      {
        admission_control_list:
          "NodeRestriction,NamespaceLifecycle,LimitRanger,ServiceAccount,ResourceQuota,PodSecurityPolicy,AlwaysPullImages",
      },
      { apiServer: { enableAdmissionPlugins: ["AlwaysPullImages"] } },
    ],
    [
      { admission_control_list: "AlwaysPullImages", kubeapi_options: "--enable-admission-plugins=NamespaceExists" },
      { apiServer: { enableAdmissionPlugins: ["AlwaysPullImages", "NamespaceExists"] } },
    ],
  ])("%j are settings of the control plane", (labels, flags) => {
    expect(refusedLabel(labels)).toBeUndefined();
    expect(labelSettings(labels).flags).toEqual(flags);
    expect(unusedLabels(labels)).toEqual([]);
    expect(new Set(flagLabelsOf(labels))).toEqual(new Set(Object.keys(labels)));
  });

  it.each<Labels>([
    { kubeapi_options: "--v=4 --vmodule=a=1,b=2" },
    { kubeapi_options: "" },
    { kubeapi_options: "--enable-admission-plugins=NodeRestriction" },
    { kubescheduler_options: "--v=4" },
    { admission_control_list: "NodeRestriction,PodSecurityPolicy" },
  ])("%j has no effect and is named", (labels) => {
    expect(refusedLabel(labels)).toBeUndefined();
    expect(labelSettings(labels).flags).toBeUndefined();
    expect(unusedLabels(labels)).toEqual(Object.keys(labels));
    expect(flagLabelsOf(labels)).toEqual([]);
  });

  it.each<[string, string, RegExp]>([
    ["kubeapi_options", "--anonymous-auth=true", /flag anonymous-auth may not be set: isolation depends on its value/],
    ["kubeapi_options", "--audit-log-path=/etc/shadow", /flag audit-log-path may not be set: it names files/],
    ["kubeapi_options", "--oidc-issuer-url=http://169.254.169.254", /oidc-issuer-url .*label keystone_auth_enabled/],
    ["kubeapi_options", "--etcd-servers=http://x", /etcd-servers may not be set/],
    ["kubeapi_options", "--event-tll=5m", /event-tll may not be set; is "event-ttl" meant\?/],
    ["kubeapi_options", "--event-ttl=1ms", /event-ttl=1ms is not allowed: the value is a time from 60s to 3600s/],
    ["kubeapi_options", "--event-ttl=9999h", /event-ttl=9999h is not allowed/],
    ["kubeapi_options", "--event-ttl", /event-ttl=true is not allowed/],
    ["kubeapi_options", "--enable-admission-plugins=EventRateLimit", /is not allowed: the value is some of/],
    ["kubeapi_options", "--feature-gates=AllAlpha=true", /feature-gates may not be set/],
    ["kubeapi_options", "--__proto__=1", /may not be set/],
    ["kubecontroller_options", "--pod-eviction-timeout=1m", /kubeapi_options set default-not-ready-toleration-seconds/],
    ["kubecontroller_options", "--concurrent-deployment-syncs=1000", /control plane's size/],
    ["kubecontroller_options", "--event-ttl=5m", /event-ttl may not be set/],
    ["kubescheduler_options", "--config=/etc/x", /config may not be set/],
    ["kubeproxy_options", "--masquerade-all", /kube-proxy is installed in the cluster, by an AddonSet/],
    ["kubelet_options", "--max-pods=many", /max-pods=many is not allowed: the value is a whole number/],
    ["kubelet_options", "--max-pod=50", /max-pod may not be set; is "max-pods" meant\?/],
    ["kubelet_options", "--eviction-hard=$(reboot)", /eviction-hard=\$\(reboot\) is not allowed/],
    ["admission_control_list", "EventRateLimit", /enable-admission-plugins=EventRateLimit is not allowed/],
  ])("%s=%s is refused by its name", (label, value, why) => {
    expect(refusedLabel({ [label]: value })).toMatch(why);
    expect(refusedLabel({ [label]: value })).toContain(`label ${label} is refused: `);
  });

  it.each([
    "--kube-reserved=cpu=100m,memory=200Mi --max-pods=50",
    "--eviction-hard=memory.available<100Mi,nodefs.available<10%",
    "--cpu-manager-policy=static --eviction-soft-grace-period=memory.available=1m30s",
  ])("kubelet_options=%s is accepted", (kubelet_options) => {
    expect(refusedLabel({ kubelet_options })).toBeUndefined();
    expect(labelSettings({ kubelet_options }).kubelet).toEqual(
      kubelet_options.split(" ").map((word) => {
        const [, name, value] = /^--([a-z-]+)=(.*)$/.exec(word) ?? [];
        return { name, value };
      }),
    );
  });

  it.each<[string, boolean, RegExp | undefined]>([
    ["192.0.2.0/24", false, /an access list of the API is not supported here/],
    ["", false, undefined],
    ["192.0.2.0/24,198.51.100.7/32", true, undefined],
    ["192.0.2.0", true, /"192.0.2.0" is not a CIDR/],
    ["0.0.0.0/0,all", true, /"all" is not a CIDR/],
    [Array.from({ length: 51 }, (_, at) => `10.0.${at}.0/24`).join(), true, /more than 50/],
  ])("master_lb_allowed_cidrs=%.40s with access lists %s", (value, accessLists, why) => {
    for (const label of ["master_lb_allowed_cidrs", "api_master_lb_allowed_cidrs"]) {
      const refused = refusedLabel({ [label]: value }, { accessLists });
      if (why === undefined) expect(refused).toBeUndefined();
      else expect(refused).toMatch(why);
    }
  });

  it("no text becomes a setting that a control plane refuses", () => {
    const names = programFlags.apiServer.map(({ flag }) => flag);
    const word = fc.tuple(
      fc.constantFrom(...names, "x"),
      fc.oneof(fc.string(), fc.nat().map(String), fc.constantFrom("5m", "true", "2000-3000", "AlwaysPullImages")),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 4 }), (words) => {
        const kubeapi_options = words.map(([name, value]) => `--${name}=${value}`).join(" ");
        const { apiServer = {} } = labelSettings({ kubeapi_options }).flags ?? {};
        for (const [field, value] of Object.entries(apiServer)) {
          const known = programFlags.apiServer.find((each) => each.field === field);
          expect(known?.values.write(value)).toBeDefined();
        }
        if (refusedLabel({ kubeapi_options }) !== undefined) expect(apiServer).toEqual({});
      }),
      { numRuns: 500 },
    );
  });
});
