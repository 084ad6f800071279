//! Outlines of shaders and kernels.

use crate::symbols::tests::check;

#[test]
fn blocks_of_glsl() {
    check(
        "GLSL",
        r#"#version 450
#define PI 3.14
layout(location = 0) in vec3 position;
uniform sampler2D tex;
layout(std140) uniform Camera { mat4 view; } camera;
struct Light { vec3 colour; };
const float EPS = 0.1;
vec4 shade(vec3 n, Light l) { return vec4(1.0); }
void main() { gl_Position = vec4(position, 1.0); }
"#,
        "macro PI 2
         variable position 3
         variable tex 4
         struct Camera 5
         field Camera.view 5
         struct Light 6
         field Light.colour 6
         constant EPS 7
         function shade 8
         function main 9",
    );
}

#[test]
fn buffers_and_semantics_of_hlsl() {
    check(
        "HLSL",
        r#"cbuffer PerFrame : register(b0) { float4x4 world; float time; };
Texture2D diffuse : register(t0);
struct VSOut { float4 pos : SV_POSITION; };
[numthreads(8, 8, 1)]
void compute(uint3 id : SV_DispatchThreadID) { }
float4 pixel(VSOut i) : SV_Target { return 1; }
"#,
        "struct PerFrame 1
         field PerFrame.world 1
         field PerFrame.time 1
         variable diffuse 2
         struct VSOut 3
         field VSOut.pos 3
         function compute 5
         function pixel 6",
    );
}

#[test]
fn kernels_of_cuda() {
    check(
        "Cuda",
        r#"__constant__ float table[256];
__global__ void add(int n, float *x) { }
__device__ __forceinline__ float helper(float a) { return a; }
__global__ void __launch_bounds__(256) bounded(float *x) { add<<<1, 2>>>(1, x); }
template <typename T> __host__ __device__ T larger(T a, T b) { return a; }
"#,
        "variable table 1
         function add 2
         function helper 3
         function bounded 4
         function larger 5",
    );
}

#[test]
fn kernels_of_metal() {
    check(
        "Metal",
        r#"using namespace metal;
struct VertexOut { float4 position [[position]]; float2 uv; };
vertex VertexOut vertex_main(uint id [[vertex_id]], constant float4 *p [[buffer(0)]]) { }
fragment float4 fragment_main(VertexOut in [[stage_in]]) { return 1; }
kernel void compute(device float *a [[buffer(0)]], uint id [[thread_position_in_grid]]) { }
constant float scale = 2;
"#,
        "struct VertexOut 2
         field VertexOut.position 2
         field VertexOut.uv 2
         function vertex_main 3
         function fragment_main 4
         function compute 5
         variable scale 6",
    );
}

#[test]
fn kernels_of_opencl() {
    check(
        "OpenCL",
        r#"__constant int size = 3;
__kernel void add(__global const float *a, __global float *b) { }
__kernel __attribute__((reqd_work_group_size(8, 8, 1))) void sized(int x) { }
float helper(float a) { return a; }
"#,
        "variable size 1
         function add 2
         function sized 3
         function helper 4",
    );
}
