/** What users of a project read of conditions: nothing of the management cluster, and what to do with its code. */
import { expect, test } from "vitest";
import { publicMessage, publicText } from "./public-text.ts";

test.each<[kind: string, reason: string, message: string, shown: string]>([
  [
    "HostedControlPlane",
    "SpecRefused",
    "the networks of pods and services overlap; change the object (CONTROL_PLANE_NETWORK_INVALID)",
    "the networks of pods and services overlap; change the object (CONTROL_PLANE_NETWORK_INVALID)",
  ],
  [
    "HostedControlPlane",
    "RotationBroken",
    "Secrets web-ca, web-sa and web-proxy are in different stages",
    "the rotation of the certificate authority cannot continue; the operator has to restore its keys",
  ],
  [
    "HostedControlPlane",
    "EndpointMismatch",
    "machines join at the Cluster's endpoint 10.0.0.5:6443",
    "it is not as it is to be; the operator's log has the reason",
  ],
  [
    "HostedControlPlane",
    "Odd",
    "Pod tenants/web-0: no room",
    "it is not as it is to be; the operator's log has the reason",
  ],
  [
    "HostedControlPlane",
    "ProblematicWebhook",
    "webhook a of B c breaks Leases: no endpoints; repair or delete it, or set spec.brokenWebhooks to Exempt (PROBLEMATIC_WEBHOOK)",
    "webhook a of B c breaks Leases: no endpoints; repair or delete it (PROBLEMATIC_WEBHOOK)",
  ],
  [
    "OpenStackMachine",
    "InvalidIdentity",
    "Secret magnum-p/web-cloud-config of identityRef does not exist",
    "the credentials of the cluster cannot be used: rotate them (PATCH /v1/credentials/ID)",
  ],
  [
    "OpenStackMachine",
    "OpenStackError",
    "compute at http://10.0.0.2:8774/v2.1 cannot be reached",
    "compute at (address) cannot be reached",
  ],
  ["Machine", "NodeOdd", "Machine magnum-p/web-1\n is odd", "Machine web-1 is odd"],
  [
    "OpenStackMachine",
    "OpenStackError",
    "compute did not answer: getaddrinfo ENOTFOUND nova.internal",
    "compute did not answer: getaddrinfo ENOTFOUND (address)",
  ],
  [
    "OpenStackMachine",
    "OpenStackError",
    "Hostname/IP does not match certificate's altnames: IP: 10.20.0.7 is not in the cert's list: 10.20.0.8, a.internal (TLS)",
    "Hostname/IP does not match certificate's altnames (TLS)",
  ],
  [
    "Machine",
    "NodeOdd",
    "etcd-0.etcd.magnum-p.svc:2379 and kube-apiserver.magnum-p.svc do not respond",
    "(address) and (address) do not respond",
  ],
])("of a %s with reason %s: %s", (kind, reason, message, shown) => {
  expect(publicMessage({ kind, metadata: { name: "web", namespace: "magnum-p" } }, { reason, message })).toBe(shown);
});

test("networks and addresses of users remain", () => {
  const text = "subnet 10.0.0.0/24 of network magnum overlaps 10.0.0.128/25 at 192.0.2.4";
  expect(publicText(text, "magnum-p")).toBe(text);
  expect(publicText("dial tcp 192.0.2.4:6443 and [2001:db8::1]:6443", "magnum-p")).toBe(
    "dial tcp (address) and (address)",
  );
});

test("images and namespaces of users remain, also those that begin as the cluster's", () => {
  const text =
    "quay.io/magnum-ci/app:1, quay.io:5000/magnum-p/app and Pod magnum-ci/web-0 of svc.magnum-ci.example.org:80";
  expect(publicText(text, "magnum-p")).toBe(text);
});
