// The calls of client-go: each row is a line of JSON, its title and what the program saw. Built in a checkout of knative/serving.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/util/retry"

	"k8s.io/apimachinery/pkg/runtime"
)

const ns = "clientgo"

func row(title string, value any) {
	line, err := json.Marshal([]any{title, value})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}

func call[T any](title string, do func() (T, error)) T {
	value, err := do()
	var status *apierrors.StatusError
	switch {
	case errors.As(err, &status):
		row(title, map[string]any{"status": status.ErrStatus})
	case err != nil:
		row(title, map[string]any{"error": err.Error()})
	default:
		row(title, map[string]any{"value": value})
	}
	return value
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"it": "yes"}}, Data: map[string]string{"k": "v"}}
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		panic(err)
	}
	config.QPS, config.Burst = 1000, 1000
	json := kubernetes.NewForConfigOrDie(config)
	binary := *config
	binary.ContentType, binary.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf,application/json"
	client := kubernetes.NewForConfigOrDie(&binary)
	ctx := context.Background()
	if _, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, metav1.CreateOptions{}); err != nil {
		panic(err)
	}
	objects(ctx, "", client, "a")
	objects(ctx, "JSON: ", json, "j")
	lists(ctx, client)
	watches(ctx, client)
	leads(ctx, client)
	scales(ctx, client, dynamic.NewForConfigOrDie(config))
}

func objects(ctx context.Context, prefix string, client kubernetes.Interface, name string) {
	maps := client.CoreV1().ConfigMaps(ns)
	call(prefix+"create", func() (*corev1.ConfigMap, error) { return maps.Create(ctx, configMap(name), metav1.CreateOptions{}) })
	call(prefix+"create again", func() (*corev1.ConfigMap, error) { return maps.Create(ctx, configMap(name), metav1.CreateOptions{}) })
	call(prefix+"create, dry run", func() (*corev1.ConfigMap, error) {
		return maps.Create(ctx, configMap("dry"), metav1.CreateOptions{DryRun: []string{"All"}})
	})
	call(prefix+"create, invalid", func() (*corev1.ConfigMap, error) { return maps.Create(ctx, configMap("UPPER"), metav1.CreateOptions{}) })
	call(prefix+"get missing", func() (*corev1.ConfigMap, error) { return maps.Get(ctx, "missing", metav1.GetOptions{}) })
	call(prefix+"update in conflict, retried", func() (int, error) {
		tries := 0
		return tries, retry.RetryOnConflict(retry.DefaultRetry, func() error {
			one, err := maps.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if tries++; tries == 1 {
				one.ResourceVersion = "1"
			}
			one.Data["k"] = "2"
			_, err = maps.Update(ctx, one, metav1.UpdateOptions{})
			return err
		})
	})
	for _, one := range []struct {
		kind types.PatchType
		body string
	}{{types.JSONPatchType, `[{"op": "add", "path": "/data/j", "value": "1"}]`}, {types.MergePatchType, `{"data": {"m": "1"}}`}, {types.StrategicMergePatchType, `{"data": {"s": "1"}}`}} {
		call(prefix+"patch "+string(one.kind), func() (*corev1.ConfigMap, error) {
			return maps.Patch(ctx, name, one.kind, []byte(one.body), metav1.PatchOptions{})
		})
	}
	applied := applycorev1.ConfigMap(name+"-applied", ns).WithData(map[string]string{"x": "1"})
	call(prefix+"apply", func() (*corev1.ConfigMap, error) { return maps.Apply(ctx, applied, metav1.ApplyOptions{FieldManager: "one"}) })
	call(prefix+"apply, conflict", func() (*corev1.ConfigMap, error) {
		return maps.Apply(ctx, applycorev1.ConfigMap(name+"-applied", ns).WithData(map[string]string{"x": "2"}), metav1.ApplyOptions{FieldManager: "two"})
	})
	call(prefix+"apply, forced", func() (*corev1.ConfigMap, error) {
		return maps.Apply(ctx, applycorev1.ConfigMap(name+"-applied", ns).WithData(map[string]string{"x": "2"}), metav1.ApplyOptions{FieldManager: "two", Force: true})
	})
	call(prefix+"extract and apply", func() (*corev1.ConfigMap, error) {
		one, err := maps.Get(ctx, name+"-applied", metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		mine, err := applycorev1.ExtractConfigMap(one, "two")
		if err != nil {
			return nil, err
		}
		return maps.Apply(ctx, mine.WithLabels(map[string]string{"l": "1"}), metav1.ApplyOptions{FieldManager: "two"})
	})
	call(prefix+"delete, another uid", func() (any, error) {
		uid := types.UID("00000000-0000-0000-0000-000000000000")
		return nil, maps.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	})
	call(prefix+"delete, foreground", func() (any, error) {
		policy := metav1.DeletePropagationForeground
		return nil, maps.Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &policy})
	})
	call(prefix+"discovery", func() ([]string, error) {
		lists, err := client.Discovery().ServerPreferredResources()
		var names []string
		for _, list := range lists {
			if list.GroupVersion == "coordination.k8s.io/v1" || list.GroupVersion == "apps/v1" {
				for _, one := range list.APIResources {
					if one.Name == "leases" || one.Name == "deployments" {
						names = append(names, fmt.Sprint(one.Name, one.Verbs, one.Namespaced, one.ShortNames))
					}
				}
			}
		}
		sort.Strings(names)
		return names, err
	})
}

func lists(ctx context.Context, client kubernetes.Interface) {
	maps := client.CoreV1().ConfigMaps(ns)
	for number := range 5 {
		if _, err := maps.Create(ctx, configMap(fmt.Sprint("l", number)), metav1.CreateOptions{}); err != nil {
			panic(err)
		}
	}
	call("pager", func() ([]string, error) {
		var names []string
		pages := 0
		pages1 := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			pages++
			return maps.List(ctx, options)
		})
		pages1.PageSize = 2
		err := pages1.EachListItem(ctx, metav1.ListOptions{LabelSelector: "it=yes"}, func(one runtime.Object) error {
			names = append(names, one.(*corev1.ConfigMap).Name)
			return nil
		})
		return append(names, fmt.Sprint(pages, " pages")), err
	})
	call("list, unknown field", func() (*corev1.ConfigMapList, error) { return maps.List(ctx, metav1.ListOptions{FieldSelector: "spec.x=y"}) })
	call("list, exactly", func() (int, error) {
		list, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "it=yes", Limit: 2})
		if err != nil {
			return 0, err
		}
		again, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "it=yes", ResourceVersion: list.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
		if err != nil {
			return 0, err
		}
		return len(again.Items), nil
	})
}

func watches(ctx context.Context, client kubernetes.Interface) {
	maps := client.CoreV1().ConfigMaps(ns)
	call("watch", func() ([]string, error) {
		seconds := int64(1)
		watch, err := maps.Watch(ctx, metav1.ListOptions{LabelSelector: "it=yes", TimeoutSeconds: &seconds})
		if err != nil {
			return nil, err
		}
		var seen []string
		for event := range watch.ResultChan() {
			seen = append(seen, string(event.Type)+" "+event.Object.(*corev1.ConfigMap).Name)
		}
		return seen, nil
	})
	call("watch, too old", func() (any, error) {
		watch, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: "1"})
		if err != nil {
			return nil, err
		}
		defer watch.Stop()
		event := <-watch.ResultChan()
		return map[string]any{"type": event.Type, "status": event.Object}, nil
	})
	var mutex sync.Mutex
	var seen []string
	add := func(text string) {
		mutex.Lock()
		defer mutex.Unlock()
		seen = append(seen, text)
	}
	stop := make(chan struct{})
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(ns), informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = "it=yes" }))
	informer := factory.Core().V1().ConfigMaps().Informer()
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(one any) { add("add " + one.(*corev1.ConfigMap).Name) },
		UpdateFunc: func(_, one any) { add("update " + one.(*corev1.ConfigMap).Name) },
		DeleteFunc: func(one any) { add("delete " + one.(*corev1.ConfigMap).Name) },
	})
	factory.Start(stop)
	factory.WaitForCacheSync(stop)
	call("informer, changes", func() (any, error) {
		if _, err := maps.Patch(ctx, "l1", types.MergePatchType, []byte(`{"data": {"k": "w"}}`), metav1.PatchOptions{}); err != nil {
			return nil, err
		}
		if err := maps.Delete(ctx, "l2", metav1.DeleteOptions{}); err != nil {
			return nil, err
		}
		_, err := maps.Create(ctx, configMap("l9"), metav1.CreateOptions{})
		return nil, err
	})
	time.Sleep(700 * time.Millisecond)
	close(stop)
	mutex.Lock()
	sort.Strings(seen)
	row("informer", seen)
	mutex.Unlock()
	call("delete a collection", func() (any, error) {
		return nil, maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "it=yes"})
	})
}

func leads(ctx context.Context, client kubernetes.Interface) {
	lock := &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Namespace: ns, Name: "elected"}, Client: client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: "one"}}
	ctx, cancel := context.WithCancel(ctx)
	started := make(chan struct{})
	go func() {
		<-started
		lease, err := client.CoordinationV1().Leases(ns).Get(ctx, "elected", metav1.GetOptions{})
		if err != nil {
			panic(err)
		}
		row("election, while it leads", lease.Spec)
		cancel()
	}()
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{Lock: lock, LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second,
		RetryPeriod: 300 * time.Millisecond, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { close(started) }, OnStoppedLeading: func() {}}})
	call("election, after it", func() (any, error) {
		lease, err := client.CoordinationV1().Leases(ns).Get(context.Background(), "elected", metav1.GetOptions{})
		return lease.Spec, err
	})
}

func scales(ctx context.Context, client kubernetes.Interface, any dynamic.Interface) {
	deployments := client.AppsV1().Deployments(ns)
	zero := int32(0)
	labels := map[string]string{"app": "d"}
	call("deployment", func() (*appsv1.Deployment, error) {
		return deployments.Create(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d"}, Spec: appsv1.DeploymentSpec{Paused: true, Replicas: &zero,
			Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "x", Command: []string{"sleep", "1"}}}}}}}, metav1.CreateOptions{})
	})
	scale := call("scale, get", func() (*autoscalingv1.Scale, error) { return deployments.GetScale(ctx, "d", metav1.GetOptions{}) })
	call("scale, update", func() (*autoscalingv1.Scale, error) { return deployments.UpdateScale(ctx, "d", scale, metav1.UpdateOptions{}) })
	resource := any.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}).Namespace(ns)
	call("dynamic, scale patch", func() (*unstructured.Unstructured, error) {
		return resource.Patch(ctx, "d", types.MergePatchType, []byte(`{"spec": {"replicas": 0}}`), metav1.PatchOptions{}, "scale")
	})
	call("dynamic, apply", func() (*unstructured.Unstructured, error) {
		return resource.Apply(ctx, "d", &unstructured.Unstructured{Object: map[string]interface{}{"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": map[string]interface{}{"name": "d", "labels": map[string]interface{}{"a": "b"}}}}, metav1.ApplyOptions{FieldManager: "dynamic"})
	})
	call("dynamic, status", func() (*unstructured.Unstructured, error) {
		one, err := resource.Get(ctx, "d", metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		return resource.UpdateStatus(ctx, one, metav1.UpdateOptions{})
	})
}
