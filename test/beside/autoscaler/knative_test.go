package kpa

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric/noop"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	fakedynamic "k8s.io/client-go/dynamic/fake"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	netcfg "knative.dev/networking/pkg/config"

	nv1alpha1 "knative.dev/networking/pkg/apis/networking/v1alpha1"
	autoscalingv1alpha1 "knative.dev/serving/pkg/apis/autoscaling/v1alpha1"
	asconfig "knative.dev/serving/pkg/autoscaler/config"
	am "knative.dev/serving/pkg/autoscaler/metrics"
	"knative.dev/serving/pkg/autoscaler/scaling"
	"knative.dev/serving/pkg/deployment"
	"knative.dev/serving/pkg/reconciler/autoscaling/config"
	"knative.dev/serving/pkg/reconciler/autoscaling/kpa/resources"
	aresources "knative.dev/serving/pkg/reconciler/autoscaling/resources"
)

// hour is one workload and what activators report about it: for each second, or none, the average concurrency and the requests.
type hour struct {
	Name                 string
	Annotations          map[string]string
	ContainerConcurrency int64
	StartSeconds         int
	Reports              [][]float64
}

// workload is the Deployment: its replicas, and since when each has run.
type workload struct {
	now      int
	start    int
	replicas int32
	since    []int
}

func (w *workload) ReadyCount() (int, error) {
	ready := 0
	for _, since := range w.since {
		if w.start >= 0 && w.now-since >= w.start {
			ready++
		}
	}
	return ready, nil
}

func (w *workload) scaleTo(replicas int32) {
	for int32(len(w.since)) < replicas {
		w.since = append(w.since, w.now)
	}
	w.since = w.since[:replicas]
	w.replicas = replicas
}

func (w *workload) List(labels.Selector) ([]runtime.Object, error)      { return nil, nil }
func (w *workload) ByNamespace(string) cache.GenericNamespaceLister     { return w }
func (w *workload) NotReadyCount() (int, error)                         { return 0, nil }
func (w *workload) Get(name string) (runtime.Object, error) {
	replicas := w.replicas
	return &autoscalingv1alpha1.PodScalable{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name},
		Spec: autoscalingv1alpha1.PodScalableSpec{Replicas: &replicas}}, nil
}

// TestHours replays hours through Knative's decider, its collector of metrics and its reconciler's scaler, second by second in
// virtual time, and writes what they decided: second, ready pods, replicas before; the decision, replicas and condition after.
func TestHours(t *testing.T) {
	content, err := os.ReadFile(os.Getenv("HOURS"))
	if err != nil {
		t.Fatal(err)
	}
	var hours []hour
	if err := json.Unmarshal(content, &hours); err != nil {
		t.Fatal(err)
	}
	for _, one := range hours {
		t.Run(one.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { replay(t, one) })
		})
	}
}

func replay(t *testing.T, one hour) {
	ac, err := asconfig.NewConfigFromMap(map[string]string{"allow-zero-initial-scale": "true"})
	if err != nil {
		t.Fatal(err)
	}
	deploy, _ := deployment.NewConfigFromMap(map[string]string{deployment.QueueSidecarImageKey: "q"})
	network, _ := netcfg.NewConfigFromMap(map[string]string{})
	ctx := config.ToContext(context.Background(), &config.Config{Autoscaler: ac, Deployment: deploy, Network: network})

	pa := &autoscalingv1alpha1.PodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "r", Annotations: one.Annotations},
		Spec: autoscalingv1alpha1.PodAutoscalerSpec{ContainerConcurrency: one.ContainerConcurrency, Reachability: autoscalingv1alpha1.ReachabilityReachable,
			ScaleTargetRef: corev1.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "r"}},
	}
	pa.Status.InitializeConditions()
	pa.Status.ServiceName = "r"
	key := types.NamespacedName{Namespace: "n", Name: "r"}
	logger := zap.NewNop().Sugar()
	collector := am.NewMetricCollector(func(*autoscalingv1alpha1.Metric, *zap.SugaredLogger) (am.StatsScraper, error) { return nil, nil }, logger)
	if err := collector.CreateOrUpdate(aresources.MakeMetric(pa, "", ac)); err != nil {
		t.Fatal(err)
	}
	defer collector.Delete("n", "r")
	decider := resources.MakeDecider(pa, ac)
	work := &workload{start: one.StartSeconds}
	work.scaleTo(decider.Spec.InitialScale)
	uni := scaling.New(attribute.NewSet(), noop.NewMeterProvider(), "n", "r", collector, work, &decider.Spec)
	client := fakedynamic.NewSimpleDynamicClient(runtime.NewScheme())
	client.PrependReactor("patch", "deployments", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		var patch []struct{ Value int32 }
		if err := json.Unmarshal(action.(clientgotesting.PatchAction).GetPatch(), &patch); err != nil {
			return true, nil, err
		}
		work.scaleTo(patch[0].Value)
		return true, nil, nil
	})
	scaler := &scaler{
		dynamicClient:  client,
		listerFactory:  func(schema.GroupVersionResource) (cache.GenericLister, error) { return work, nil },
		activatorProbe: func(*autoscalingv1alpha1.PodAutoscaler, http.RoundTripper) (bool, error) { return true, nil },
		enqueueCB:      func(interface{}, time.Duration) {},
	}
	sks := &nv1alpha1.ServerlessService{}
	sks.Status.InitializeConditions()
	latest := scaling.ScaleResult{DesiredPodCount: -1, ExcessBurstCapacity: -1}
	if decider.Spec.TargetBurstCapacity == 0 {
		latest.ExcessBurstCapacity = 0
	}
	decide := func() {
		if result := uni.Scale(logger, time.Now()); result.ScaleValid {
			latest = result
		}
	}
	var lines strings.Builder
	for second, report := range one.Reports {
		work.now = second
		ready, _ := work.ReadyCount()
		before := work.replicas
		if report != nil {
			collector.Record(key, time.Now(), am.Stat{PodName: "activator", AverageConcurrentRequests: report[0], RequestCount: report[1]})
			if latest.DesiredPodCount == 0 && report[0] != 0 {
				decide()
			}
		}
		if second > 0 && second%2 == 0 {
			decide()
		}
		want, err := scaler.scale(ctx, pa, sks, latest.DesiredPodCount)
		if err != nil {
			t.Fatal(err)
		}
		mode := nv1alpha1.SKSOperationModeProxy
		if want > 0 && latest.ExcessBurstCapacity >= 0 {
			mode = nv1alpha1.SKSOperationModeServe
		}
		if sks.Spec.Mode = mode; mode == nv1alpha1.SKSOperationModeProxy {
			sks.Status.MarkActivatorEndpointsPopulated()
		} else {
			sks.Status.MarkActivatorEndpointsRemoved()
		}
		computeActiveCondition(ctx, pa, podCounts{want: int(want), ready: ready})
		active := pa.Status.GetCondition(autoscalingv1alpha1.PodAutoscalerConditionActive).Status
		fmt.Fprintf(&lines, "%d %d %d %d %d %s %s\n", second, ready, before, latest.DesiredPodCount, work.replicas, active, mode)
		time.Sleep(time.Second)
	}
	if err := os.WriteFile(os.Getenv("OUT")+"/"+one.Name+".knative", []byte(lines.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
