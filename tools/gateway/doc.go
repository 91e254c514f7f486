// Package gateway names the conformance suite, whose tests are linked from its module.
package gateway

import _ "sigs.k8s.io/gateway-api/conformance"
