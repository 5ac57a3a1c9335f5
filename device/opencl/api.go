package opencl

import (
	"fmt"

	"sddmmkit/device"
	"sddmmkit/internal/dl"
)

// libraries are the names of the loader of OpenCL drivers.
var libraries = []string{"libOpenCL.so.1", "libOpenCL.so", "/System/Library/Frameworks/OpenCL.framework/OpenCL"}

// function is a function of the library.
type function struct {
	name    string
	address uintptr
}

// api are the functions of OpenCL 1.2 that the driver calls. cl_int and cl_uint have 32 bits, cl_ulong, cl_bitfield
// and size_t 64, and handles (cl_mem, …) are pointers.
type api struct {
	// invoke calls a function: dl.Call, or a test's.
	invoke func(address uintptr, args ...uintptr) uintptr

	// cl_int clGetPlatformIDs(cl_uint num_entries, cl_platform_id *platforms, cl_uint *num_platforms)
	getPlatformIDs function
	// cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info param_name,
	//	size_t param_value_size, void *param_value, size_t *param_value_size_ret)
	getPlatformInfo function
	// cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type device_type,
	//	cl_uint num_entries, cl_device_id *devices, cl_uint *num_devices)
	getDeviceIDs function
	// cl_int clGetDeviceInfo(cl_device_id device, cl_device_info param_name,
	//	size_t param_value_size, void *param_value, size_t *param_value_size_ret)
	getDeviceInfo function

	// cl_context clCreateContext(const cl_context_properties *properties, cl_uint num_devices, const cl_device_id *devices,
	//	void (*pfn_notify)(const char *, const void *, size_t, void *), void *user_data, cl_int *errcode_ret)
	createContext function
	// cl_int clReleaseContext(cl_context context)
	releaseContext function
	// cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
	//	cl_command_queue_properties properties, cl_int *errcode_ret)
	createCommandQueue function
	// cl_int clReleaseCommandQueue(cl_command_queue command_queue)
	releaseCommandQueue function
	// cl_int clFinish(cl_command_queue command_queue)
	finish function

	// cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr, cl_int *errcode_ret)
	createBuffer function
	// cl_int clReleaseMemObject(cl_mem memobj)
	releaseMemObject function
	// cl_int clEnqueueReadBuffer(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_read, size_t offset, size_t size,
	//	void *ptr, cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event)
	enqueueReadBuffer function
	// cl_int clEnqueueWriteBuffer(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_write, size_t offset, size_t size,
	//	const void *ptr, cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event)
	enqueueWriteBuffer function
	// cl_int clEnqueueCopyBuffer(cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_buffer, size_t src_offset,
	//	size_t dst_offset, size_t size, cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event)
	enqueueCopyBuffer function
	// cl_int clEnqueueFillBuffer(cl_command_queue command_queue, cl_mem buffer, const void *pattern, size_t pattern_size,
	//	size_t offset, size_t size, cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event)
	enqueueFillBuffer function

	// cl_int clEnqueueMarkerWithWaitList(cl_command_queue command_queue, cl_uint num_events_in_wait_list,
	//	const cl_event *event_wait_list, cl_event *event)
	enqueueMarker function
	// cl_int clWaitForEvents(cl_uint num_events, const cl_event *event_list)
	waitForEvents function
	// cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info param_name,
	//	size_t param_value_size, void *param_value, size_t *param_value_size_ret)
	getEventProfilingInfo function
	// cl_int clReleaseEvent(cl_event event)
	releaseEvent function

	// cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings,
	//	const size_t *lengths, cl_int *errcode_ret)
	createProgramWithSource function
	// cl_int clBuildProgram(cl_program program, cl_uint num_devices, const cl_device_id *device_list, const char *options,
	//	void (*pfn_notify)(cl_program, void *), void *user_data)
	buildProgram function
	// cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info param_name,
	//	size_t param_value_size, void *param_value, size_t *param_value_size_ret)
	getProgramBuildInfo function
	// cl_int clReleaseProgram(cl_program program)
	releaseProgram function

	// cl_kernel clCreateKernel(cl_program program, const char *kernel_name, cl_int *errcode_ret)
	createKernel function
	// cl_int clReleaseKernel(cl_kernel kernel)
	releaseKernel function
	// cl_int clGetKernelInfo(cl_kernel kernel, cl_kernel_info param_name,
	//	size_t param_value_size, void *param_value, size_t *param_value_size_ret)
	getKernelInfo function
	// cl_int clGetKernelArgInfo(cl_kernel kernel, cl_uint arg_indx, cl_kernel_arg_info param_name,
	//	size_t param_value_size, void *param_value, size_t *param_value_size_ret)
	getKernelArgInfo function
	// cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info param_name,
	//	size_t param_value_size, void *param_value, size_t *param_value_size_ret)
	getKernelWorkGroupInfo function
	// cl_int clSetKernelArg(cl_kernel kernel, cl_uint arg_index, size_t arg_size, const void *arg_value)
	setKernelArg function
	// cl_int clEnqueueNDRangeKernel(cl_command_queue command_queue, cl_kernel kernel, cl_uint work_dim,
	//	const size_t *global_work_offset, const size_t *global_work_size, const size_t *local_work_size,
	//	cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event)
	enqueueNDRangeKernel function
}

// load finds the functions. The library stays open: drivers have threads of their own that outlive every device.
func load(open dl.Opener) (*api, error) {
	lib, err := open(libraries...)
	if err != nil {
		return nil, fmt.Errorf("OpenCL: %w: the loader of OpenCL drivers is not installed (%v)", device.ErrUnavailable, err)
	}
	a := &api{invoke: dl.Call}
	for name, f := range map[string]*function{
		"clGetPlatformIDs":            &a.getPlatformIDs,
		"clGetPlatformInfo":           &a.getPlatformInfo,
		"clGetDeviceIDs":              &a.getDeviceIDs,
		"clGetDeviceInfo":             &a.getDeviceInfo,
		"clCreateContext":             &a.createContext,
		"clReleaseContext":            &a.releaseContext,
		"clCreateCommandQueue":        &a.createCommandQueue,
		"clReleaseCommandQueue":       &a.releaseCommandQueue,
		"clFinish":                    &a.finish,
		"clCreateBuffer":              &a.createBuffer,
		"clReleaseMemObject":          &a.releaseMemObject,
		"clEnqueueReadBuffer":         &a.enqueueReadBuffer,
		"clEnqueueWriteBuffer":        &a.enqueueWriteBuffer,
		"clEnqueueCopyBuffer":         &a.enqueueCopyBuffer,
		"clEnqueueFillBuffer":         &a.enqueueFillBuffer,
		"clEnqueueMarkerWithWaitList": &a.enqueueMarker,
		"clWaitForEvents":             &a.waitForEvents,
		"clGetEventProfilingInfo":     &a.getEventProfilingInfo,
		"clReleaseEvent":              &a.releaseEvent,
		"clCreateProgramWithSource":   &a.createProgramWithSource,
		"clBuildProgram":              &a.buildProgram,
		"clGetProgramBuildInfo":       &a.getProgramBuildInfo,
		"clReleaseProgram":            &a.releaseProgram,
		"clCreateKernel":              &a.createKernel,
		"clReleaseKernel":             &a.releaseKernel,
		"clGetKernelInfo":             &a.getKernelInfo,
		"clGetKernelArgInfo":          &a.getKernelArgInfo,
		"clGetKernelWorkGroupInfo":    &a.getKernelWorkGroupInfo,
		"clSetKernelArg":              &a.setKernelArg,
		"clEnqueueNDRangeKernel":      &a.enqueueNDRangeKernel,
	} {
		address, err := lib.Sym(name)
		if err != nil {
			lib.Close() // no driver has been started yet
			return nil, fmt.Errorf("OpenCL: %w: the loader is older than OpenCL 1.2 (%v)", device.ErrUnavailable, err)
		}
		*f = function{name, address}
	}
	return a, nil
}

// call calls a function that returns a cl_int.
//
//go:uintptrescapes
func (a *api) call(f function, args ...uintptr) status { return status(a.invoke(f.address, args...)) }

// create calls a function that returns a handle, and a cl_int through its last argument.
//
//go:uintptrescapes
func (a *api) create(f function, args ...uintptr) uintptr { return a.invoke(f.address, args...) }
