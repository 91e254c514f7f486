import type { Metrics } from "@causeway/foundation";
import { requestName, type NamedCall } from "./request-names.ts";

/** Records one call: the HTTP status, or "none" without a response, and its duration in seconds. */
export type Measure = (call: NamedCall, status: string, seconds: number) => void;

/**
 * The metrics of cloud-provider-openstack (openstack_api_request_duration_seconds, openstack_api_requests_total,
 * openstack_api_request_errors_total, label `request`), and causeway_openstack_requests_total, which counts by status.
 */
export function measures(metrics: Metrics | undefined): Measure {
  if (metrics === undefined) return () => {};
  const requests = metrics.counter({
    name: "causeway_openstack_requests_total",
    help: "Requests sent to OpenStack services.",
    labels: ["service", "method", "route", "status"],
  });
  const labels = ["request"];
  const seconds = metrics.histogram({
    name: "openstack_api_request_duration_seconds",
    help: "Latency of an OpenStack API call",
    labels,
  });
  const total = metrics.counter({
    name: "openstack_api_requests_total",
    help: "Total number of OpenStack API calls",
    labels,
  });
  const errors = metrics.counter({
    name: "openstack_api_request_errors_total",
    help: "Total number of errors for an OpenStack API call",
    labels,
  });
  return (call, status, taken) => {
    const { service, method, route } = call;
    const request = requestName(call);
    requests.increment({ service, method, route, status });
    seconds.observe(taken, { request });
    total.increment({ request });
    if (status === "none" || Number(status) >= 400) errors.increment({ request });
  };
}
