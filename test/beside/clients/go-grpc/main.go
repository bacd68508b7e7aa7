// gRPC's client in Go: reads URLs whose last part names the case of grpc.js, and writes one line for each. Built in a checkout of
// knative/serving.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"sort"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// bytesCodec passes messages on as they are.
type bytesCodec struct{}

func (bytesCodec) Marshal(value any) ([]byte, error)      { return *value.(*[]byte), nil }
func (bytesCodec) Unmarshal(data []byte, value any) error { *value.(*[]byte) = data; return nil }
func (bytesCodec) Name() string                           { return "proto" }

func main() {
	channels := map[string]*grpc.ClientConn{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		target, err := url.Parse(lines.Text())
		if err != nil {
			panic(err)
		}
		channel := channels[target.Host]
		if channel == nil {
			channel, err = grpc.NewClient("passthrough:///"+target.Host, grpc.WithTransportCredentials(insecure.NewCredentials()),
				grpc.WithDefaultCallOptions(grpc.ForceCodec(bytesCodec{})))
			if err != nil {
				panic(err)
			}
			channels[target.Host] = channel
		}
		fmt.Println(strings.ReplaceAll(call(channel, path.Base(target.Path)), "\n", " "))
	}
}

func call(channel *grpc.ClientConn, name string) string {
	method, timeout, messages := "Unary", 2*time.Second, []string{name}
	switch name {
	case "unary", "metadata":
		messages = []string{"hello"}
	case "empty":
		messages = []string{""}
	case "upload":
		messages = []string{strings.Repeat("u", 300_000)}
	case "deadline":
		timeout, messages = 200*time.Millisecond, []string{"slow"}
	case "cancel":
		messages = []string{"slow"}
	case "server":
		method, messages = "Server", []string{"ok"}
	case "server-error":
		method, messages = "Server", []string{"error"}
	case "client":
		method, messages = "Client", []string{"a", "b", "c"}
	case "both":
		method, messages = "Both", []string{"a", "bb", ""}
	case "both-empty":
		method, messages = "Both", nil
	case "unknown":
		method, messages = "None", []string{""}
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if name == "metadata" {
		ctx = metadata.AppendToOutgoingContext(ctx, "x-text", "a, b", "x-data-bin", "\x00\x01\xff")
	}
	if name == "cancel" {
		time.AfterFunc(50*time.Millisecond, cancel)
	}
	stream, err := channel.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/beside.Echo/"+method)
	if err != nil {
		return ending(err, nil, nil, nil)
	}
	for _, message := range messages {
		sent := []byte(message)
		if err := stream.SendMsg(&sent); err != nil {
			break
		}
	}
	_ = stream.CloseSend()
	var seen []int
	for {
		var message []byte
		if err = stream.RecvMsg(&message); err != nil {
			break
		}
		seen = append(seen, len(message))
	}
	head, _ := stream.Header()
	return ending(err, seen, head, stream.Trailer())
}

func ending(err error, seen []int, head, trailer metadata.MD) string {
	if err == io.EOF {
		err = nil
	}
	details := status.Convert(err).Message()
	if strings.Contains(details, "eadline") {
		details = "deadline"
	}
	return fmt.Sprint(status.Code(err), " ", details, " ", names(head), seen, names(trailer))
}

func names(fields metadata.MD) []string {
	var names []string
	for name := range fields {
		if strings.HasPrefix(name, "x-") {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}
